package web

import (
	"time"

	"lastword/conversation"
)

// inspection is the frame of the turn inspector: what the engine's records say
// of the owner's own conversation. It holds no text of anybody, no incarnation,
// which buttons are made of, and no token of a process.
type inspection struct {
	head
	Key        string                  `json:"key,omitempty"`
	Version    conversation.Version    `json:"version"`
	Answered   conversation.Version    `json:"answered"`
	Generation conversation.Generation `json:"generation"`
	Restarts   int                     `json:"restarts"`
	Failures   int                     `json:"failures"`
	Rest       conversation.Rest       `json:"rest,omitempty"`
	Turns      int                     `json:"turns"` // in the history, up to mostTurns
	Timer      *timerView              `json:"timer,omitempty"`
	Lease      *leaseView              `json:"lease,omitempty"`
	Waiting    []messageView           `json:"waiting"`
	Outbox     []replyView             `json:"outbox"`
	Journal    []journalView           `json:"journal"`
	Policy     policy                  `json:"policy"`
}

type timerView struct {
	Due    time.Time                `json:"due"`
	First  time.Time                `json:"first"`
	Cap    time.Time                `json:"cap"` // further messages do not put it off beyond
	Armed  conversation.Version     `json:"armed"`
	Reason conversation.TimerReason `json:"reason"`
}

type leaseView struct {
	Epoch      uint64                  `json:"epoch"`
	Started    time.Time               `json:"started"`
	Expiry     time.Time               `json:"expiry"`
	Version    conversation.Version    `json:"version"` // of the snapshot
	Generation conversation.Generation `json:"generation"`
	Snapshot   []int64                 `json:"snapshot"` // ids of the messages in it
	Revises    conversation.Version    `json:"revises,omitempty"`
	Protected  bool                    `json:"protected,omitempty"`
	Cancelled  conversation.Outcome    `json:"cancelled,omitempty"`
	Delivering bool                    `json:"delivering,omitempty"`
}

type messageView struct {
	ID      int64                `json:"id"`
	Version conversation.Version `json:"version"`
	Edited  bool                 `json:"edited,omitempty"`
}

type replyView struct {
	ID         uint64                   `json:"id"`
	Notice     conversation.NoticeCode  `json:"notice,omitempty"`
	Version    conversation.Version     `json:"version,omitempty"`
	Generation conversation.Generation  `json:"generation,omitempty"`
	Revision   bool                     `json:"revision,omitempty"`
	Parts      []conversation.PartState `json:"parts"`
}

type journalView struct {
	At         time.Time               `json:"at"`
	Generation conversation.Generation `json:"generation"`
	Version    conversation.Version    `json:"version"`
	Outcome    conversation.Outcome    `json:"outcome"`
	Reason     string                  `json:"reason,omitempty"`
	ID         string                  `json:"id,omitempty"`
	Took       int64                   `json:"took_ms"`
	FirstToken int64                   `json:"first_token_ms"`
	Tokens     conversation.Tokens     `json:"tokens"`
}

// policy is what the engine was told to do.
type policy struct {
	Debounce     int64                     `json:"debounce_ms"`
	MaxWait      int64                     `json:"max_wait_ms"`
	LeaseTTL     int64                     `json:"lease_ttl_ms"`
	MaxRestarts  int                       `json:"max_restarts"`
	OnNewMessage conversation.OnNewMessage `json:"on_new_message"`
}

const (
	mostJournal = 30  // entries
	mostTurns   = 100 // counted
)

func (s *Server) policy() policy {
	return policy{
		Debounce: s.turn.Debounce.Milliseconds(), MaxWait: s.turn.MaxWait.Milliseconds(), LeaseTTL: s.turn.LeaseTTL.Milliseconds(),
		MaxRestarts: s.turn.MaxRestarts, OnNewMessage: s.turn.OnNewMessage,
	}
}

// nothing is the inspection of a session that nothing is stored of.
func (s *Server) nothing() inspection {
	return inspection{
		head: of("inspect"), Policy: s.policy(), Waiting: []messageView{}, Outbox: []replyView{}, Journal: []journalView{},
	}
}

// inspect describes a conversation.
func (s *Server) inspect(tx conversation.Tx, st *conversation.State) (inspection, error) {
	v := s.nothing()
	v.Key, v.Version, v.Answered, v.Generation = st.Key.String(), st.Version, st.Answered, st.Generation
	v.Restarts, v.Failures, v.Rest = st.Restarts, st.Failures, st.Rest
	if t := st.Timer; t.Set() {
		v.Timer = &timerView{Due: t.Due, First: t.First, Cap: t.First.Add(s.turn.MaxWait), Armed: t.Armed, Reason: t.Reason}
		if t.Reason != conversation.Debounce {
			v.Timer.Cap = t.Due
		}
	}
	if l := st.Lease; l.Held() {
		v.Lease = &leaseView{
			Epoch: l.Epoch, Started: l.Started, Expiry: l.Expiry, Version: l.Version, Generation: l.Generation, Snapshot: []int64{},
			Revises: l.Revises, Protected: l.Protected, Cancelled: l.Cancelled, Delivering: l.Delivering,
		}
	}
	for _, m := range st.Waiting() {
		v.Waiting = append(v.Waiting, messageView{m.Source.ID, m.Version, m.Edited})
		if v.Lease != nil && m.Version <= v.Lease.Version {
			v.Lease.Snapshot = append(v.Lease.Snapshot, m.Source.ID)
		}
	}
	for _, r := range st.Outbox {
		v.Outbox = append(v.Outbox, viewReply(r))
	}
	for e, err := range tx.Journal(st.Key) {
		if err != nil {
			return v, err
		}
		if len(v.Journal) == mostJournal {
			break
		}
		v.Journal = append(v.Journal, journalView{
			At: e.At, Generation: e.Generation, Version: e.Version, Outcome: e.Outcome, Reason: e.Reason, ID: e.ID,
			Took: e.Meter.Took.Milliseconds(), FirstToken: e.Meter.FirstToken.Milliseconds(), Tokens: e.Meter.Tokens,
		})
	}
	for _, err := range tx.History(st.Key) {
		if err != nil || v.Turns == mostTurns {
			return v, err
		}
		v.Turns++
	}
	return v, nil
}

func viewReply(r conversation.Reply) replyView {
	v := replyView{ID: r.ID, Version: r.Version, Generation: r.Generation, Revision: r.Of != 0, Parts: []conversation.PartState{}}
	if r.Notice != nil {
		v.Notice = r.Notice.Code
	}
	for _, p := range r.Parts {
		v.Parts = append(v.Parts, p.State)
	}
	return v
}
