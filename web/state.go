package web

import (
	"time"

	"lastword/conversation"
)

// state is the frame that says what the engine is doing for a session. It is
// read from the engine's records after each of its commits.
type state struct {
	head
	Phase      string                  `json:"phase"`      // see phaseOf
	Generation conversation.Generation `json:"generation"` // that is in flight; 0 if none is
	Waiting    []int64                 `json:"waiting"`    // ids of messages that have no answer yet, in order
	Buffered   []int64                 `json:"buffered"`   // of these, the ones that the generation in flight does not cover
	Rewriting  []int64                 `json:"rewriting"`  // ids of messages that are about to be replaced
	Redoing    bool                    `json:"redoing"`    // an answer was discarded because something newer came
}

// view is what one look at a conversation's records finds.
type view struct {
	state
	inFlight   conversation.Generation
	inspection inspection
}

// look reads the records of a conversation in one transaction.
func (s *Server) look(number int64, inspect bool) (v view, err error) {
	v.state = state{head: of("state"), Phase: "idle", Waiting: []int64{}, Buffered: []int64{}, Rewriting: []int64{}}
	if number == 0 {
		v.inspection = s.nothing()
		return v, nil
	}
	err = s.store.View(func(tx conversation.Tx) error {
		st, err := readState(tx, s.key(number))
		if err != nil {
			return err
		}
		v.describe(&st)
		if inspect {
			v.inspection, err = s.inspect(tx, &st)
		}
		return err
	})
	return v, err
}

// readState reads the records of a conversation.
func readState(tx conversation.Tx, k conversation.Key) (s conversation.State, err error) {
	s.Key = k
	if s.Conversation, _, err = tx.Conversation(k); err != nil {
		return s, err
	}
	if s.Messages, err = tx.Messages(k); err != nil {
		return s, err
	}
	if s.Timer, err = tx.Timer(k); err != nil {
		return s, err
	}
	if s.Lease, err = tx.Lease(k); err != nil {
		return s, err
	}
	s.Outbox, err = tx.Outbox(k)
	return s, err
}

func (v *view) describe(s *conversation.State) {
	v.Phase = phaseOf(s)
	covered := s.Answered
	if v.Phase == "generating" {
		v.Generation = s.Lease.Generation
		v.inFlight = s.Lease.Generation
		covered = s.Lease.Version
	}
	for _, m := range s.Waiting() {
		v.Waiting = append(v.Waiting, m.Source.ID)
		if v.Phase == "generating" && m.Version > covered {
			v.Buffered = append(v.Buffered, m.Source.ID)
		}
	}
	if s.Revising != nil {
		v.Rewriting = append(v.Rewriting, s.Revising.Receipts...)
	}
	v.Redoing = s.Restarts > 0 && len(v.Waiting) > 0
}

// phaseOf names what a conversation is at:
//
//	waiting     for the person to finish, or for the service to recover
//	generating  the model is at work
//	cancelling  it is being stopped
//	delivering  an answer is on its way
//	resting     what was written is kept and answered with the next message
//	idle        nothing
func phaseOf(s *conversation.State) string {
	switch l := s.Lease; {
	case l.Held() && l.Delivering:
		return "delivering"
	case l.Held() && l.Cancelled != "":
		return "cancelling"
	case l.Held():
		return "generating"
	case s.Timer.Set():
		return "waiting"
	case s.Rest != "":
		return "resting"
	}
	return "idle"
}

// watched is the store as the engine gets it: each of its commits tells the
// pages which conversations it was about.
type watched struct {
	conversation.Store
	touched func(conversation.Key)
}

// Update implements [conversation.Store].
func (w watched) Update(fn func(conversation.Tx) error) error {
	keys := map[conversation.Key]bool{}
	err := w.Store.Update(func(tx conversation.Tx) error {
		clear(keys)
		return fn(watchedTx{tx, keys})
	})
	if err == nil {
		for k := range keys {
			w.touched(k)
		}
	}
	return err
}

// watchedTx notes which conversations are written.
type watchedTx struct {
	conversation.Tx
	keys map[conversation.Key]bool
}

func (t watchedTx) PutConversation(k conversation.Key, c conversation.Conversation) error {
	t.keys[k] = true
	return t.Tx.PutConversation(k, c)
}

func (t watchedTx) PutMessage(k conversation.Key, m conversation.Message) error {
	t.keys[k] = true
	return t.Tx.PutMessage(k, m)
}

func (t watchedTx) Arm(k conversation.Key, v conversation.Timer) error {
	t.keys[k] = true
	return t.Tx.Arm(k, v)
}

func (t watchedTx) Disarm(k conversation.Key) error {
	t.keys[k] = true
	return t.Tx.Disarm(k)
}

func (t watchedTx) PutLease(k conversation.Key, l conversation.Lease) error {
	t.keys[k] = true
	return t.Tx.PutLease(k, l)
}

func (t watchedTx) DeleteLease(k conversation.Key) error {
	t.keys[k] = true
	return t.Tx.DeleteLease(k)
}

func (t watchedTx) PutReply(k conversation.Key, r conversation.Reply) error {
	t.keys[k] = true
	return t.Tx.PutReply(k, r)
}

func (t watchedTx) DeleteReply(k conversation.Key, id uint64) error {
	t.keys[k] = true
	return t.Tx.DeleteReply(k, id)
}

func (t watchedTx) AddJournal(k conversation.Key, e conversation.JournalEntry) error {
	t.keys[k] = true
	return t.Tx.AddJournal(k, e)
}

// timed is an inspection with the time at which it was made: the page counts
// down by the difference to its own clock.
type timed struct {
	inspection
	Now time.Time `json:"now"`
}
