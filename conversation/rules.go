package conversation

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Rules decide what follows from an event. They are a pure function of the
// state, the event and the time: no clock, no I/O, no goroutine, no chance.
type Rules struct {
	Config
	Limits
	Owner    string // token of this process, for leases
	Stopping bool   // the process is about to end: nothing new is started or claimed
	Crowded  bool   // no place is free for a model call: a turn that is due has to queue
}

// Result is what a step wants besides the new state: records to be written in
// the same transaction, and effects to be started after it.
type Result struct {
	Journal []JournalEntry
	Turns   []Turn    // to put into the history
	Undo    []Version // turns to take out of the history
	Amend   []Amendment
	Forget  bool    // clear the whole history, before Turns
	Known   []Known // messages of the bot that became visible
	Effects []Effect
}

// Effect is slow work outside of the transaction. It comes back as an event.
type Effect interface{ effect() }

// Generate asks the model. It comes back as [Generated].
type Generate struct {
	Work  Lease
	Turn  []Message // the snapshot
	State State     // the rest of it, for the prompt
}

// Cancel ends the generation of a lease; its [Generated] follows.
type Cancel struct {
	Incarnation string
	Epoch       uint64
}

// Send shows one part. It comes back as [Delivered].
type Send struct {
	Incarnation string
	Reply       uint64
	Index       int
	Part        Part
	Notice      *Notice
	Target      Source
}

// Abort ends the call of a [Send], if it has not ended: its [Delivered] follows.
type Abort struct {
	Incarnation string
	Reply       uint64
	Index       int
}

// Look looks for a part of unknown outcome. It comes back as [Looked].
type Look struct {
	Incarnation string
	Reply       uint64
	Index       int
	Part        Part
	Stale       bool  // the part must not become visible by the look
	Alone       bool  // whatever is met can be told from the part, or is it
	Proof       proof // what bounds where the part can be; set by the engine
}

// Answer tells whoever pressed a button what came of it.
type Answer struct {
	Query  string
	Notice Notice
}

// Unbutton takes the buttons of a visible message away.
type Unbutton struct{ Message int64 }

// Remove takes a message of the bot away.
type Remove struct{ Message int64 }

// Known is a message of the bot that became visible.
type Known struct {
	ID    int64
	Begun time.Time // when its send began; zero if that is not known
}

func (Generate) effect() {}
func (Cancel) effect()   {}
func (Send) effect()     {}
func (Abort) effect()    {}
func (Look) effect()     {}
func (Answer) effect()   {}
func (Unbutton) effect() {}
func (Remove) effect()   {}

// step is one application of the rules: the state being changed and what has
// been asked for so far.
type step struct {
	State
	Result
	rules Rules
	now   time.Time
}

// Step applies an event. It never changes s. The same arguments give the same
// results.
func (r Rules) Step(s State, e Event, now time.Time) (State, Result) {
	t := &step{State: s.clone(), rules: r, now: now}
	switch e := e.(type) {
	case Incoming:
		t.incoming(e)
	case Edited:
		t.edited(e)
	case Deleted:
		t.deleted(e)
	case Reset:
		t.reset(e)
	case Stop:
		t.stop(e)
	case AskStatus:
		t.say(Notice{Code: StatusReport, Language: e.Language})
	case Say:
		t.say(e.Notice)
	case Pressed:
		t.pressed(e)
	case Unseen:
		t.unseen(e)
	case Left:
		t.left()
	case Returned:
		t.returned()
	case Due:
		t.due()
	case Generated:
		t.generated(e)
	case Delivered:
		t.delivered(e)
	case Looked:
		t.looked(e)
	case Recovered:
		t.recovered()
	case Migrated: // the engine moves the records; nothing else changes
	default:
		panic(fmt.Sprintf("conversation: no rule for %T", e))
	}
	t.settle()
	return t.State, t.Result
}

// settle does what the state asks for, whatever led to it. That a message
// waits and nobody will look is impossible because every step ends here.
func (t *step) settle() {
	t.withdrawStale()
	t.abortStale()
	t.release()
	t.closeIfAsked()
	t.armIfOwed()
	t.clearUp()
	t.dropLost()
	t.giveUpMoved()
	t.claim()
}

// release drops the lease once its work is over: the reply is out of the
// outbox. A lease whose model call is still in flight is kept; generated drops
// that one.
func (t *step) release() {
	if t.Lease.Delivering && t.answer() == nil {
		t.Lease = Lease{}
	}
}

// closeIfAsked carries out a reset that had to wait for a visible reply.
func (t *step) closeIfAsked() {
	if c := t.Closing; c != nil && t.answer() == nil {
		t.wipe(c.Language, c.Version)
	}
}

// armIfOwed is the check at release: is there unanswered input without a
// timer? It also runs when nothing was released, where it finds nothing.
func (t *step) armIfOwed() {
	switch {
	case t.generating() || t.answer() != nil:
	case !t.wantsTurn():
		t.Timer = Timer{}
	case !t.Timer.Set():
		t.Timer = Timer{Due: t.now, First: t.now, Armed: t.Version, Reason: Resume}
	}
}

// take gives this process the lease for one generation or delivery.
func (t *step) take() {
	t.Epoch++
	t.Lease = Lease{
		Owner: t.rules.Owner, Epoch: t.Epoch, Expiry: t.now.Add(t.rules.LeaseTTL), Incarnation: t.Incarnation,
		Version: t.Version, Generation: t.Generation, Started: t.now,
	}
}

// journal notes how the work of a lease ended.
func (t *step) journal(l Lease, o Outcome, reason string, m Meter) {
	t.Journal = append(t.Journal, JournalEntry{
		At: t.now, Key: t.Key.String(), Generation: l.Generation, Version: l.Version, Outcome: o, Reason: reason, Meter: m,
	})
}

// errorID is what a user can report and an operator can find in the journal.
// It tells nothing to anybody else.
func (t *step) errorID() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %d", t.Incarnation, t.Generation, t.Replies))
	return hex.EncodeToString(sum[:3])
}

// Next is when a conversation has to be looked at again; zero if it only waits
// for a call of this process to come back, or for people. Whoever waits for
// anything else has a Next (I5), or queues for a place ([Rules.Queues]).
func (r Rules) Next(s *State, now time.Time) time.Time {
	var next time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) { // a part that need not wait may wait for the lease
			next = t
		}
	}
	l := s.Lease
	switch {
	case l.Held() && l.Owner != r.Owner:
		sooner(l.Expiry)
	case s.generating() && l.Cancelled != "" && !l.Live(now): // it has to come back
	case l.Held():
		sooner(l.renewAt(r.LeaseTTL))
	case s.answer() != nil:
		sooner(l.Expiry) // long past: take the lease and go on
	case s.Timer.Set() && !r.Queues(s, now):
		sooner(s.Timer.Due)
	}
	for _, r := range []*Reply{s.notice(), s.repeat()} {
		if r == nil {
			continue
		}
		if _, p := r.next(); p != nil && (p.State != Claimed || r.Notice != nil) {
			sooner(p.NotBefore)
		}
	}
	if a := s.answer(); a != nil && l.Owner == r.Owner {
		if _, p := a.next(); p != nil && p.State != Claimed {
			sooner(p.NotBefore)
		}
	}
	return next
}

// Queues reports whether a turn is due but has to wait for a place. Its snapshot
// is taken when it has one: what comes meanwhile is part of it.
func (r Rules) Queues(s *State, now time.Time) bool {
	return r.Crowded && !s.Lease.Held() && s.answer() == nil && s.Timer.Set() && !now.Before(s.Timer.Due)
}
