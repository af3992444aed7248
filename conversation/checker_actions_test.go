package conversation

import (
	"errors"
	"slices"
	"time"
)

// happening is one thing that can happen next.
type happening struct {
	kind   happeningKind
	worker int // who takes it in
	n      int // the message, the flight, or which sends of a crashed worker have landed
	how    ending
}

type happeningKind string

const (
	says    happeningKind = "a message"
	edits   happeningKind = "an edit of message"
	resets  happeningKind = "a reset"
	looks   happeningKind = "due"
	crashes happeningKind = "crash and start; landed sends:"
	sleeps  happeningKind = "sleeps through its lease"
	waits   happeningKind = "time passes"
	misses  happeningKind = "the time of a lost notice is over"
	returns happeningKind = "back:"
)

// ending is how an effect ends.
type ending string

const (
	answers     ending = "the model answers"
	failsOnce   ending = "the model is busy"
	isDenied    ending = "the model refuses"
	ends        ending = "the call ends as told"
	isShown     ending = "the part is visible"
	doubtShown  ending = "in doubt, the part is visible"
	doubtLost   ending = "in doubt, the part is not visible"
	isLater     ending = "the part has to wait"
	isFound     ending = "found"
	isAbsent    ending = "ruled out"
	isUnclear   ending = "neither found nor ruled out"
	longUnclear ending = "after long, neither found nor ruled out"
)

// outside reports whether an action needs a person or a mishap. Nothing may
// depend on one for its end.
func (a happening) outside() bool {
	return a.kind == says || a.kind == edits || a.kind == resets || a.kind == crashes || a.kind == sleeps
}

// actions lists everything that can happen next.
func (c *checker) actions(s *scene) (out []happening) {
	late, told := false, false
	wait := c.nextOfAll(s).Sub(now0)
	idle := 0
	for w := range s.workers {
		if !s.busy(w) {
			if idle++; idle > 1 {
				continue // it can do what the other one can, and nothing else
			}
		}
		out = append(out, s.inputs(w)...)
		next := c.next(s, w)
		isLate := !next.IsZero() && !next.After(now0)
		late = late || isLate
		if isLate || s.state.Lease.Held() && s.state.Lease.Owner != s.workers[w] { // then the alarm may be one that was set before
			out = append(out, happening{kind: looks, worker: w})
		}
	}
	for i, f := range s.flights {
		told = told || f.told && f.kind == calling || f.kind == looking || f.notice && wait >= sayTimeout
		for _, how := range s.endings(f) {
			out = append(out, happening{returns, f.worker, i, how})
		}
	}
	// A worker is prompt, and so are calls that were told to end, looks and notices:
	// time passes when they are done. That a worker is late is an action of its own.
	if !late && !told && wait > 0 {
		out = append(out, happening{kind: waits})
	}
	if s.lostNotice() != nil {
		out = append(out, happening{kind: misses})
	}
	if i := slices.Index(s.workers, s.state.Lease.Owner); i >= 0 && s.left.Sleeps > 0 {
		out = append(out, happening{kind: sleeps, worker: i})
	}
	return out
}

// inputs lists what people can do and what can happen to a worker.
func (s *scene) inputs(w int) (out []happening) {
	if s.left.Messages > 0 {
		out = append(out, happening{kind: says, worker: w, n: s.referee.said})
	}
	if s.left.Edits > 0 {
		for n := range s.referee.said {
			out = append(out, happening{kind: edits, worker: w, n: n})
		}
	}
	if s.left.Resets > 0 && s.referee.said > 0 {
		out = append(out, happening{kind: resets, worker: w})
	}
	sends := 0
	for _, f := range s.flights {
		if f.worker == w && f.lands() {
			sends++
		}
	}
	if s.left.Crashes > 0 && s.busy(w) { // else nobody would notice
		for landed := range 1 << sends {
			out = append(out, happening{kind: crashes, worker: w, n: landed})
		}
	}
	return out
}

// busy reports whether a worker has anything to lose.
func (s *scene) busy(w int) bool {
	return s.state.Lease.Owner == s.workers[w] || slices.ContainsFunc(s.flights, func(f flight) bool { return f.worker == w })
}

// lands reports whether an effect can show something new of an answer.
func (f flight) lands() bool { return f.kind == sending && !f.notice && !f.replaces }

// endings lists how a flight can end.
func (s *scene) endings(f flight) (out []ending) {
	add := func(yes bool, o ...ending) {
		if yes {
			out = append(out, o...)
		}
	}
	switch f.kind {
	case calling:
		add(true, answers) // also if it was told to end just then
		add(f.told, ends)
		add(!f.told && s.left.Failures > 0, failsOnce, isDenied)
	case sending:
		add(true, isShown)
		add(!f.notice && (s.left.Mishaps > 0 || f.told), doubtShown, doubtLost)
		add(!f.notice && s.left.Mishaps > 0, isLater)
	case looking:
		if slices.ContainsFunc(s.flights, func(o flight) bool { return o.lands() && o.reply == f.reply && o.index == f.index }) {
			return nil // not before that has ended: what has not landed yet cannot be ruled out
		}
		visible := s.referee.visible(f.reply, f.index)
		add(visible, isFound)
		add(!visible, isAbsent)
		add(s.left.Blind > 0, isUnclear, longUnclear)
	}
	return out
}

// receipt is the id of every visible part: the rules only pass it on.
const receipt = 101

var errCheck = errors.New("test")

func (c *checker) event(f flight, how ending) Event {
	generated := Generated{Work: f.work}
	delivered := Delivered{Incarnation: "x", Reply: f.reply, Index: f.index}
	looked := Looked{Incarnation: "x", Reply: f.reply, Index: f.index}
	switch how {
	case answers:
		generated.Text = "a"
		for range c.bounds.Parts {
			generated.Parts = append(generated.Parts, Part{Text: "a"})
		}
		return generated
	case failsOnce:
		generated.Err = &ModelError{Kind: Temporary, Err: errCheck}
		return generated
	case isDenied:
		generated.Err = &ModelError{Kind: Denied, Err: errCheck}
		return generated
	case ends:
		generated.Err = errCheck
		return generated
	case isShown:
		delivered.Receipt = receipt
		return delivered
	case doubtShown, doubtLost:
		delivered.Err = &SendError{Kind: InDoubt, Err: errCheck}
		return delivered
	case isLater:
		delivered.Err = &SendError{Kind: Later, After: 5 * time.Second, Err: errCheck}
		return delivered
	case isFound:
		looked.Finding, looked.Receipt = Found, receipt
	case isAbsent:
		looked.Finding = Absent
	default:
		looked.Finding = Unclear
	}
	return looked
}
