package conversation

import "time"

// Timer is when a conversation is due. Zero means that it is not. It has a
// record of its own, which saving a conversation cannot touch (I6).
type Timer struct {
	Due    time.Time     `json:"due"`
	First  time.Time     `json:"first"`          // arrival of the first message that this wait is for
	Armed  Version       `json:"armed"`          // version that it was armed for
	Reason TimerReason   `json:"reason"`         //
	Floor  time.Time     `json:"floor,omitzero"` // no message moves the timer before this: a service asked to be left alone
	Bound  time.Duration `json:"bound"`          // how far ahead Due can have been when it was set
}

// TimerReason says what a timer waits for.
type TimerReason string

// What a timer can wait for.
const (
	Debounce TimerReason = "debounce" // the person to finish
	Retry    TimerReason = "retry"    // the model's service to recover
	Resume   TimerReason = "resume"   // nothing: there is input and nobody works on it
)

// Set reports whether the timer is armed.
func (t Timer) Set() bool { return !t.Due.IsZero() }

// clamp bounds a deadline that was read from disk: a wall clock that was set
// back must not hold a chat for longer than the wait itself.
func clamp(due, now time.Time, bound time.Duration) time.Time {
	if limit := now.Add(bound); due.After(limit) {
		return limit
	}
	return due
}
