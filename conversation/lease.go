package conversation

import "time"

// Lease is the right to work on a conversation: to ask the model and to send.
// Zero means that nobody has it.
type Lease struct {
	Owner  string    `json:"owner"`  // token of the process
	Epoch  uint64    `json:"epoch"`  // grows with each acquisition
	Expiry time.Time `json:"expiry"` //

	// What is being worked on.
	Incarnation string     `json:"incarnation"`
	Version     Version    `json:"version"`              // of the snapshot
	Revises     Version    `json:"revises,omitempty"`    // the turn whose reply is to be replaced
	Again       bool       `json:"again,omitempty"`      // because another answer to the same question is wanted
	Generation  Generation `json:"generation"`           //
	Protected   bool       `json:"protected,omitempty"`  // newer input does not cancel it any more
	Cancelled   Outcome    `json:"cancelled,omitempty"`  // why its result is not wanted; the work is about to end
	Keep        bool       `json:"keep,omitempty"`       // cancelled by its user: what was written so far is the reply
	Delivering  bool       `json:"delivering,omitempty"` // the model has answered; the reply is on its way
	Started     time.Time  `json:"started"`              //
}

// Held reports whether anybody has the lease, expired or not.
func (l Lease) Held() bool { return l.Owner != "" }

// Live reports whether the lease still protects its owner's work.
func (l Lease) Live(now time.Time) bool { return l.Held() && now.Before(l.Expiry) }

// renewAt is when the owner renews: after a third of the time, so that two
// renewals can fail before the lease is lost.
func (l Lease) renewAt(ttl time.Duration) time.Time { return l.Expiry.Add(-ttl * 2 / 3) }
