package conversation

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// now0 is the time of every scene: deadlines are kept relative to it, so that
// two moments that differ only by the clock are one.
var now0 = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// scene is one moment of the checked world: what is stored, who is at work, what
// is in flight, what may still happen, and what a referee outside has seen.
type scene struct {
	state   State
	turns   []Turn   // the history, as long as an edit can ask for it
	workers []string // their owner tokens; a worker that was started anew has another
	flights []flight
	left    bounds // what may still happen
	referee referee
}

// flight is an effect whose event has not come back. What it is about is kept
// as the referee sees it, for the check when it ends.
type flight struct {
	kind     flightKind
	worker   int
	work     Lease  // of a call
	reply    uint64 // of a send or a look, with its index
	index    int
	notice   bool
	replaces bool // a send that shows nothing new
	snapshot      // of a call
	told     bool // to end
	lapsed   bool // its worker slept through the lease: nobody can have told it
}

type flightKind uint8

const (
	calling flightKind = iota
	sending
	looking
)

// copy makes a scene that can be changed.
func (s *scene) copy() *scene {
	n := *s
	n.turns = slices.Clone(s.turns)
	n.workers = slices.Clone(s.workers)
	n.flights = slices.Clone(s.flights)
	n.referee.replies = slices.Clone(s.referee.replies)
	return &n
}

// rulesOf are the rules as a worker applies them to an event, or asks them when
// the next one is due.
func (c *checker) rulesOf(s *scene, w int, e Event) Rules {
	r := c.rules
	r.Owner = s.workers[w]
	if _, ok := e.(Due); ok && c.mutant.owner != nil {
		r.Owner = c.mutant.owner(s.state, r.Owner)
	}
	return r
}

func (c *checker) next(s *scene, w int) time.Time {
	return c.rulesOf(s, w, Due{}).Next(&s.state, now0)
}

// nextOfAll is the first deadline of any worker.
func (c *checker) nextOfAll(s *scene) (first time.Time) {
	for w := range s.workers {
		if next := c.next(s, w); first.IsZero() || !next.IsZero() && next.Before(first) {
			first = next
		}
	}
	return first
}

// apply is the scene after an action, and what is wrong with it.
func (c *checker) apply(s *scene, a happening) (*scene, *violation) {
	n := s.copy()
	if a.kind == crashes || a.kind == sleeps || a.kind == waits || a.kind == misses || a.how == longUnclear {
		n.state = s.state.clone() // the others are a step, which makes a copy
	}
	var bad *violation
	switch a.kind {
	case says:
		n.left.Messages--
		n.referee.say()
		bad = c.step(n, a.worker, n.message(a.n, "m"), nil)
	case edits:
		n.left.Edits--
		n.referee.edited |= 1 << a.n
		e := Edited{Incoming: n.message(a.n, "e")}
		for i := range n.turns {
			if inTurn(&n.turns[i], e.Message.Source) != nil {
				e.Turn = &n.turns[i]
			}
		}
		bad = c.step(n, a.worker, e, nil)
	case resets:
		n.left.Resets--
		n.reset()
		bad = c.step(n, a.worker, Reset{}, nil)
	case looks:
		bad = c.step(n, a.worker, Due{}, nil)
	case crashes:
		bad = c.crash(n, a)
	case sleeps:
		n.left.Sleeps--
		n.pass(n.state.Lease.Expiry.Sub(now0))
		for i := range n.flights {
			f := &n.flights[i]
			f.lapsed = f.lapsed || f.kind == calling && f.worker == a.worker
		}
	case waits:
		n.pass(c.nextOfAll(n).Sub(now0))
	case misses:
		n.lostNotice().NotBefore = now0
	case returns:
		bad = c.back(n, a)
	}
	if bad == nil {
		bad = n.oneCall()
	}
	n.canonical()
	return n, bad
}

// lostNotice is a notice that is on its way for the store only, and not for long
// enough that anybody would notice; nil if there is none.
func (s *scene) lostNotice() *Part {
	n := s.state.notice()
	if n == nil || n.Parts[0].State != Claimed || !n.Parts[0].NotBefore.After(now0) ||
		slices.ContainsFunc(s.flights, func(f flight) bool { return f.notice && f.reply == n.ID }) {
		return nil
	}
	return &n.Parts[0]
}

func (s *scene) message(n int, text string) Incoming {
	return Incoming{Addressed: true, Message: Message{
		Source: Source{Chat: 1, ID: int64(n + 1)}, Author: Author{ID: 9}, Content: Content{Text: text}, Sent: now0,
	}}
}

// crash ends a worker and starts it anew. What it had in flight is gone; what it
// was sending has landed or not. A worker that is alone has the proof that the
// lease is void, as with the lock of a file; two have to let it expire.
func (c *checker) crash(s *scene, a happening) (bad *violation) {
	s.left.Crashes--
	sends := 0
	s.flights = slices.DeleteFunc(s.flights, func(f flight) bool {
		if f.worker != a.worker {
			return false
		}
		if f.lands() {
			if a.n&(1<<sends) != 0 && bad == nil {
				bad = s.referee.land(f)
			}
			sends++
		}
		return true
	})
	s.workers[a.worker] += "'"
	if bad == nil && len(s.workers) == 1 {
		bad = c.step(s, a.worker, Recovered{}, nil)
	}
	return bad
}

// back brings the event of a flight to its worker.
func (c *checker) back(s *scene, a happening) *violation {
	f := s.flights[a.n]
	s.flights = slices.Delete(s.flights, a.n, a.n+1)
	if (a.how == isShown || a.how == doubtShown) && f.lands() {
		if bad := s.referee.land(f); bad != nil {
			return bad
		}
	}
	switch a.how {
	case failsOnce, isDenied:
		s.left.Failures--
	case isLater:
		s.left.Mishaps--
	case doubtShown, doubtLost:
		if !f.told { // what was aborted is always in doubt
			s.left.Mishaps--
		}
	case isUnclear, longUnclear:
		s.left.Blind--
	}
	if a.how == longUnclear {
		s.pass(closeAfter)
	}
	return c.step(s, f.worker, c.event(f, a.how), &f)
}

// step is one transaction of a worker: the rules, the records, and then the
// effects, which become its flights. from is what came back, if anything did.
func (c *checker) step(s *scene, w int, e Event, from *flight) *violation {
	given, before := s.state, s.state
	if c.mutant.before != nil {
		given = c.mutant.before(given, e)
	}
	next, result := c.rulesOf(s, w, e).Step(given, e, now0)
	if c.mutant.after != nil {
		next = c.mutant.after(before, next, e)
	}
	s.state = next
	s.record(result)
	s.referee.committed(before, next, from)
	for _, effect := range result.Effects {
		if bad := s.begin(w, effect); bad != nil {
			return bad
		}
	}
	return nil
}

// record keeps the history.
func (s *scene) record(r Result) {
	drop := func(id Version) {
		s.turns = slices.DeleteFunc(s.turns, func(u Turn) bool { return u.ID == id })
	}
	if r.Forget {
		s.turns = nil
	}
	for _, id := range r.Undo {
		drop(id)
	}
	for _, turn := range r.Turns {
		drop(turn.ID)
		t := Turn{ID: turn.ID, At: now0, Receipts: turn.Receipts} // the window of revisions is longer than any run
		for _, m := range turn.Messages {
			t.Messages = append(t.Messages, Message{Source: m.Source, Content: m.Content})
		}
		s.turns = append(s.turns, t)
	}
	for _, a := range r.Amend {
		for i := range s.turns {
			if s.turns[i].ID == a.ID {
				s.turns[i].Receipts = a.Receipts
			}
		}
	}
}

// begin starts an effect. Those that end another one reach only what the same
// worker has in flight. Kinds that the checker does not know show nothing that
// it checks.
func (s *scene) begin(w int, effect Effect) *violation {
	switch f := effect.(type) {
	case Generate:
		work := Lease{Owner: f.Work.Owner, Epoch: f.Work.Epoch, Incarnation: f.Work.Incarnation} // the rest is for the journal
		asked := s.referee.snapshot(f)
		asked.finishes = s.left.Finish
		s.flights = append(s.flights, flight{kind: calling, worker: w, work: work, snapshot: asked})
	case Cancel:
		s.tell(func(o flight) bool { return o.kind == calling && o.worker == w && o.work.Epoch == f.Epoch })
	case Send:
		s.flights = append(s.flights, flight{
			kind: sending, worker: w, reply: f.Reply, index: f.Index, notice: f.Notice != nil, replaces: f.Part.Replaces != 0,
		})
		return s.referee.claimed(f)
	case Abort:
		s.tell(func(o flight) bool {
			return o.kind == sending && o.worker == w && o.reply == f.Reply && o.index == f.Index
		})
	case Look:
		s.flights = append(s.flights, flight{kind: looking, worker: w, reply: f.Reply, index: f.Index})
	default:
	}
	return nil
}

func (s *scene) tell(who func(flight) bool) {
	for i := range s.flights {
		s.flights[i].told = s.flights[i].told || who(s.flights[i])
	}
}

// oneCall is I4. A call whose worker slept through its lease does not count:
// no rule can wake a process. One whose worker is gone is no call.
func (s *scene) oneCall() *violation {
	var calls []string
	for _, f := range s.flights {
		if f.kind == calling && !f.lapsed {
			calls = append(calls, fmt.Sprintf("%s asks for %s", s.workers[f.worker], names(f.covers)))
		}
	}
	if len(calls) > 1 {
		return &violation{"I4", fmt.Sprintf("two model calls at once: %s", strings.Join(calls, ", "))}
	}
	return nil
}
