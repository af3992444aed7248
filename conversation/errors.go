package conversation

import (
	"errors"
	"fmt"
	"time"
)

// Errors of a store's commit.
var (
	// ErrFull means that there is no space: nothing was written, and the same
	// may work later.
	ErrFull = errors.New("the disk is full")
	// ErrBroken means that what is on disk is not known. The process has to
	// open the store anew.
	ErrBroken = errors.New("the commit failed")
)

// ErrNotAsked is what a model's error wraps if the call ended before anything of
// it had left: it cost nothing, and counts as no restart.
var ErrNotAsked = errors.New("the model was not asked")

// ModelError is why a model did not answer.
type ModelError struct {
	Kind       ModelErrorKind
	RetryAfter time.Duration // how long the service asks to be left alone; 0 if it does not say
	Err        error         // for the log; holds no secret and no text of a user or model
}

// ModelErrorKind is what the engine decides by.
type ModelErrorKind string

// What can go wrong with a model call.
const (
	Temporary     ModelErrorKind = "temporary"      // busy, down, cut, stalled, empty: worth another try
	ContextTooBig ModelErrorKind = "context_length" // the prompt does not fit: worth another try with less history
	Denied        ModelErrorKind = "denied"         // key or quota: no use trying again soon
	Rejected      ModelErrorKind = "rejected"       // this request will never work
)

func (e *ModelError) Error() string { return fmt.Sprintf("model call (%s): %v", e.Kind, e.Err) }

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// SendError is why a part is not known to be visible.
type SendError struct {
	Kind  SendErrorKind
	After time.Duration // of Later
	To    int64         // of Moved: the chat's new id
	Err   error         // for the log; holds no secret and no text of a user or model
}

// SendErrorKind is what is known of the outcome of a send.
type SendErrorKind string

// What can become of a send that does not return an id.
const (
	Later   SendErrorKind = "later"    // not sent; may be tried again after a time (flood control, pacing)
	NotSent SendErrorKind = "not_sent" // nothing left this machine: may be tried again
	InDoubt SendErrorKind = "in_doubt" // it may or may not be visible
	Refused SendErrorKind = "refused"  // not sent and never will be, as it is
	Away    SendErrorKind = "away"     // the user blocked the bot, the bot was removed from the group
	Moved   SendErrorKind = "moved"    // the chat has another id now; not sent
)

func (e *SendError) Error() string { return fmt.Sprintf("send (%s): %v", e.Kind, e.Err) }

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }
