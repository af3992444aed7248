package conversation

import (
	"encoding/json"
	"slices"
	"time"
)

// Reply is an entry of the outbox: something that was committed to be shown to
// a user, in one or more parts.
type Reply struct {
	ID         uint64     `json:"id"` // grows within a conversation: the order of delivery
	Notice     *Notice    `json:"notice,omitempty"`
	Version    Version    `json:"version,omitempty"`    // of the snapshot that it answers
	Before     Version    `json:"before,omitempty"`     // what was answered before it, if it has to be withdrawn
	Generation Generation `json:"generation,omitempty"` //
	Owned      bool       `json:"owned,omitempty"`      // it may be older than the newest input, and says so by quoting what it answers
	Target     Source     `json:"target,omitzero"`      // the message that its first part quotes; zero for none
	Meter      Meter      `json:"meter,omitzero"`       //
	Of         Version    `json:"of,omitempty"`         // the turn of the history that it changes: it is a revision or a repeat, and no answer
	Repeat     bool       `json:"repeat,omitempty"`     // it shows parts of that turn that may never have arrived
	Text       string     `json:"text,omitempty"`       // of a revision: for the history, when it is visible
	Page       int        `json:"page,omitempty"`       // of a revision: which answer of several it is, from 1; 0 if the others are not kept
	Tokens     int        `json:"tokens,omitempty"`     // estimate for its turn in the history
	Restarts   int        `json:"restarts,omitempty"`   // of its turn so far, if it has to be withdrawn
	Stopped    bool       `json:"stopped,omitempty"`    // the user stopped it; the rest of its parts is gone
	StoppedAt  Version    `json:"stoppedAt,omitempty"`  // what came later is not resting
	Fixed      bool       `json:"fixed,omitempty"`      // owned even if what it covers was edited
	Halted     bool       `json:"halted,omitempty"`     // the user stopped the model: it is what was written until then
	Aborted    bool       `json:"aborted,omitempty"`    // newer input came while its first part was on its way
	Parts      []Part     `json:"-"`                    // each a record of its own
}

// turn is the turn of the history that a reply belongs to.
func (r *Reply) turn() Version {
	if r.Of != 0 {
		return r.Of
	}
	return r.Version
}

// Part is one message of a reply.
type Part struct {
	Text      string          `json:"text"`                // within the channel's limits
	Entities  json.RawMessage `json:"entities,omitempty"`  // formatting, in the channel's own form
	Rich      string          `json:"rich,omitempty"`      // the same in a richer form, for a channel that has one
	File      string          `json:"file,omitempty"`      // what is in the file that this part is; Text is its caption then
	Buttons   []Button        `json:"buttons,omitempty"`   //
	State     PartState       `json:"state"`               //
	Replaces  int64           `json:"replaces,omitempty"`  // id of a visible message that is to show it instead; without a text, that is to go
	Receipt   int64           `json:"receipt,omitempty"`   // id of the visible message
	NotBefore time.Time       `json:"notBefore,omitzero"`  // when to send it, or to look for it again
	Waited    time.Duration   `json:"waited,omitempty"`    // how long NotBefore was ahead when it was set: bounds it after a clock jump
	Attempts  int             `json:"attempts,omitempty"`  // sends that did not leave, or looks that found nothing
	Above     int64           `json:"above,omitempty"`     // highest message id known when it was claimed: a message that landed has a higher one
	Since     time.Time       `json:"since,omitzero"`      // when its outcome became unknown
	Announced int             `json:"announced,omitempty"` // times that the user was told that its outcome is unknown
	Moved     bool            `json:"moved,omitempty"`     // the chat has got another id since it was claimed: where it would be, nobody can look
}

// PartState is what is known of a part.
type PartState string

// A part goes from pending to claimed to sent. Claimed is committed before the
// call, so that a crash leaves a trace.
const (
	Pending PartState = "pending"
	Claimed PartState = "claimed" // the call may be under way
	Sent    PartState = "sent"    // visible, its id is the receipt
	Unknown PartState = "unknown" // the call's outcome is unknown; being looked for
	Closed  PartState = "closed"  // looked for long enough: neither found nor ruled out, the user was told
)

// Turn is an entry of the history: what a user said and what the user saw.
type Turn struct {
	ID       Version   `json:"id"` // the version that was answered
	Messages []Message `json:"messages"`
	Reply    string    `json:"reply"` // the model's text, as it was delivered

	Generation Generation `json:"generation,omitempty"` // of the reply that is visible
	Variants   []Variant  `json:"variants,omitempty"`   // all answers, if there are several to choose from
	Page       int        `json:"page,omitempty"`       // which of them is visible, from 1
	Missing    []Part     `json:"missing,omitempty"`    // parts that may never have become visible

	Receipts []int64   `json:"receipts,omitempty"` // ids of the visible parts
	At       time.Time `json:"at"`
	Tokens   int       `json:"tokens"`            // estimate of messages and reply together
	Offset   int       `json:"offset"`            // estimate of everything before it since the last reset
	Stopped  bool      `json:"stopped,omitempty"` // the user stopped it
}

// Variant is one of several answers of a turn.
type Variant struct {
	Text       string     `json:"text"`
	Generation Generation `json:"generation"`
}

// Amendment tells a turn of the history what became of its reply.
type Amendment struct {
	ID         Version
	Receipts   []int64
	Reply      string     // what the user saw, if that is not all of it
	Generation Generation // of the reply that is visible, if that is another one
	Page       int        // of that, see [Reply]
	Missing    []Part     // closed parts
	Stopped    bool
	Repeat     bool // of what was missing: the rest stays as it is
}

// amend notes what became of the reply of a turn.
func (turn *Turn) amend(a Amendment) {
	if a.Repeat {
		turn.Receipts = slices.Sorted(slices.Values(append(turn.Receipts, a.Receipts...))) // ids grow down the screen
		turn.Missing = a.Missing
		return
	}
	if a.Generation != 0 {
		turn.show(a)
	}
	turn.Receipts, turn.Missing, turn.Stopped = a.Receipts, a.Missing, a.Stopped
	if a.Reply != "" {
		turn.Reply = a.Reply
	}
}

// show makes another answer the visible one.
func (turn *Turn) show(a Amendment) {
	switch {
	case a.Page == 0: // to a question that was edited, or the others are not kept
		turn.Variants = nil
	case !slices.ContainsFunc(turn.Variants, func(v Variant) bool { return v.Generation == a.Generation }):
		if len(turn.Variants) == 0 {
			turn.Variants = []Variant{{turn.Reply, turn.Generation}}
		}
		turn.Variants = append(turn.Variants, Variant{a.Reply, a.Generation})
		turn.Variants = turn.Variants[max(0, len(turn.Variants)-mostVariants):]
	}
	turn.Generation, turn.Page = a.Generation, a.Page
}

// Notice is a short message of the bot itself: a confirmation, a failure, the
// answer to a command. The channel words it in the user's language.
type Notice struct {
	Code     NoticeCode `json:"code"`
	Language string     `json:"language,omitempty"` // IETF tag as the user's client reports it
	ID       string     `json:"id,omitempty"`       // what a user can report and an operator can find in the log
	Text     string     `json:"text,omitempty"`     // of Said: the words themselves
	Status   *Status    `json:"status,omitempty"`   // of StatusReport
	Press    *Press     `json:"press,omitempty"`    // of the button under it; the channel labels it
}

// NoticeCode says what a notice is about.
type NoticeCode string

// What a notice can say.
const (
	Said          NoticeCode = "said"            // a text the channel prepared: help, a greeting
	ResetDone     NoticeCode = "reset_done"      //
	NothingToDrop NoticeCode = "nothing_to_drop" // reset of an empty conversation
	StopDone      NoticeCode = "stop_done"       // the running generation was ended
	StopDropped   NoticeCode = "stop_dropped"    // what waited was dropped
	StopRest      NoticeCode = "stop_rest"       // the remaining parts of a reply were dropped
	NothingToStop NoticeCode = "nothing_to_stop" //
	StatusReport  NoticeCode = "status"          //
	Failed        NoticeCode = "failed"          // the model did not answer; the messages are kept
	TooLong       NoticeCode = "too_long"        // the messages do not fit the model's context, even without history
	Unanswerable  NoticeCode = "unanswerable"    // the model's service refuses the bot: key, quota
	Undelivered   NoticeCode = "undelivered"     // the channel refuses the answer
	Halted        NoticeCode = "halted"          // closes what was written until the user stopped it
	Doubtful      NoticeCode = "doubtful"        // the answer was sent but may not have arrived
	Working       NoticeCode = "working"         // the model is at it, and the chat shows no preview; removed in the end

	// Answers to a press, which only whoever pressed sees.

	Outdated NoticeCode = "outdated" // the button is no longer current
	Redoing  NoticeCode = "redoing"  // another answer is being written
	Busy     NoticeCode = "busy"     // that is under way already
	Showing  NoticeCode = "showing"  // the answer is sent again
	Nothing  NoticeCode = "nothing"  // no words: what was asked for can be seen
)

// Status is what the command of that name tells.
type Status struct {
	Version Version        `json:"version"`
	Waiting int            `json:"waiting"` // messages without an answer
	Working bool           `json:"working"` // a model call is in flight, or a reply on its way
	Tokens  Tokens         `json:"tokens"`
	Recent  []JournalEntry `json:"recent,omitempty"` // newest first
}

// Tokens counts what the model's service reported.
type Tokens struct {
	Prompt     int `json:"prompt,omitempty"`
	Completion int `json:"completion,omitempty"`
}

// Plus adds up.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{Prompt: t.Prompt + o.Prompt, Completion: t.Completion + o.Completion}
}

// Meter is what a generation cost.
type Meter struct {
	Tokens     Tokens        `json:"tokens,omitzero"`
	FirstToken time.Duration `json:"firstToken,omitempty"` // from the start of the call
	Took       time.Duration `json:"took,omitempty"`
	Started    time.Time     `json:"started,omitzero"`
}

// JournalEntry tells what became of one generation.
type JournalEntry struct {
	At         time.Time  `json:"at"`
	Key        string     `json:"key"`
	Generation Generation `json:"generation"`
	Version    Version    `json:"version"`
	Outcome    Outcome    `json:"outcome"`
	Reason     string     `json:"reason,omitempty"` // never a text of a user or a model
	ID         string     `json:"id,omitempty"`     // the error id that the user was shown
	Meter      Meter      `json:"meter,omitzero"`
}

// Outcome is how a generation ended.
type Outcome string

// The ways a generation can end.
const (
	WasSent       Outcome = "sent"
	WasStale      Outcome = "stale"      // finished, but the input had moved on
	WasSuperseded Outcome = "superseded" // cancelled by newer input
	WasWithdrawn  Outcome = "withdrawn"  // committed, but newer input came before anybody saw it
	WasStopped    Outcome = "stopped"    // by the user: stop, reset, blocked
	WasFailed     Outcome = "failed"
	LeaseLost     Outcome = "lease_lost" // the process died or slept while it ran
)
