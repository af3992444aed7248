package conversation

import (
	"slices"
	"time"
)

// Conversation is the record of one conversation. What waits, the timer, the
// lease and the outbox are records of their own.
type Conversation struct {
	Incarnation string     `json:"incarnation"` // random, made with the record, never reused
	Version     Version    `json:"version"`
	Answered    Version    `json:"answered"` // messages up to this version have a committed reply
	Generation  Generation `json:"generation"`
	Epoch       uint64     `json:"epoch"`              // of the newest lease
	Replies     uint64     `json:"replies"`            // id of the newest reply
	Restarts    int        `json:"restarts,omitempty"` // calls of the current turn that newer input cancelled
	Failures    int        `json:"failures,omitempty"` // calls of the current turn that failed
	Rest        Rest       `json:"rest,omitempty"`     // why unanswered messages are left alone
	Closing     *Closing   `json:"closing,omitempty"`
	Revising    *Revising  `json:"revising,omitempty"` // what an edit has asked for
	Language    string     `json:"language,omitempty"` // of whoever wrote last
	Group       bool       `json:"group,omitempty"`    //
	Tokens      Tokens     `json:"tokens,omitzero"`    // used so far
	Turned      int        `json:"turned,omitempty"`   // estimate of tokens in the history since the last reset
	Ratio       float64    `json:"ratio,omitempty"`    // reported over estimated prompt tokens; 0 if never reported
	Budget      int        `json:"budget,omitempty"`   // prompt tokens that the model was seen to take, if fewer than configured
	MovedTo     *Key       `json:"movedTo,omitempty"`  // the chat got another key; this record only points there

	// Messages of the bot that are not to stay as they are, by id.
	Buttons  int64    `json:"buttons,omitempty"`  // the reply that has buttons
	Asking   *Notable `json:"asking,omitempty"`   // the notice that offers to show a part of unknown outcome
	Standing *Notable `json:"standing,omitempty"` // the notice that offers to stop the model

	Stray time.Time `json:"stray,omitzero"` // when a message without buttons may last have become visible under an id that nobody knows
}

// Closing is a reset that waits for a visible reply to end.
type Closing struct {
	Language string  `json:"language,omitempty"`
	Version  Version `json:"version"` // when it was asked for: what came later stays
}

// Notable is a notice with a button.
type Notable struct {
	Message    int64      `json:"message"`
	Generation Generation `json:"generation"`         // that it is about
	Answered   bool       `json:"answered,omitempty"` // what it asks about is known now; its button may stay a while
}

// Rest says why unanswered messages have no timer: a visible notice told so,
// or nobody is there. They are part of the next turn.
type Rest string

// Why unanswered messages may rest.
const (
	AfterStop    Rest = "stopped"
	AfterFailure Rest = "failed"
	WhileAway    Rest = "away"
)

// State is everything the rules look at: the records of one conversation.
type State struct {
	Key Key
	Conversation
	Messages []Message // not in the history yet, or in it with a reply nobody has seen to its end; by version
	Timer    Timer
	Lease    Lease
	Outbox   []Reply // by id

	// HighestID is the highest message id known in the chat's sequence. It is
	// no record: the engine knows it.
	HighestID int64
}

// clone copies what a step may change in place, with room for a message more.
func (s State) clone() State {
	s.Messages = append(make([]Message, 0, len(s.Messages)+1), s.Messages...)
	s.Outbox = slices.Clone(s.Outbox)
	for i := range s.Outbox {
		s.Outbox[i].Parts = slices.Clone(s.Outbox[i].Parts)
	}
	return s
}

// Waiting lists the unanswered messages in the order in which they were sent.
func (s *State) Waiting() []Message {
	var out []Message
	for _, m := range s.Messages {
		if m.Version > s.Answered {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, inOrder)
	return out
}

// lane is a kind of reply. Within one, replies are shown in order; none waits
// for another.
type lane int

const (
	noticeLane lane = iota
	repeatLane
	answerLane // and revisions: what the lease is for
)

func (r *Reply) lane() lane {
	switch {
	case r.Notice != nil:
		return noticeLane
	case r.Repeat:
		return repeatLane
	}
	return answerLane
}

// first is the reply of a lane that is to be shown next, nil if none is.
func (s *State) first(l lane) *Reply {
	for i := range s.Outbox {
		if s.Outbox[i].lane() == l {
			return &s.Outbox[i]
		}
	}
	return nil
}

// answer is the reply of the current turn that is on its way, or the revision
// of the last; nil if none is.
func (s *State) answer() *Reply { return s.first(answerLane) }

func (s *State) notice() *Reply { return s.first(noticeLane) }
func (s *State) repeat() *Reply { return s.first(repeatLane) }

// generating reports whether a model call is in flight, wanted or not.
func (s *State) generating() bool { return s.Lease.Held() && !s.Lease.Delivering }

// wantsTurn reports whether unanswered messages are owed a turn.
func (s *State) wantsTurn() bool { return s.Rest == "" && (s.waits() || s.Revising != nil) }

// waits reports whether there are unanswered messages.
func (s *State) waits() bool {
	return slices.ContainsFunc(s.Messages, func(m Message) bool { return m.Version > s.Answered })
}

// next is the first part of a reply that is not settled, nil if all are.
func (r *Reply) next() (int, *Part) {
	for i := range r.Parts {
		if p := &r.Parts[i]; p.State != Sent && p.State != Closed {
			return i, p
		}
	}
	return len(r.Parts), nil
}

// visible reports whether anybody may have seen a part of the reply.
func (r *Reply) visible() bool {
	if len(r.Parts) == 0 {
		return false
	}
	p := &r.Parts[0]
	return p.State != Pending || p.Replaces != 0 && p.Attempts > 0 // an edit that failed may have been carried out
}
