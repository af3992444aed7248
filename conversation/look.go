package conversation

import (
	"slices"
	"time"
)

// How long the engine looks for a part whose outcome is unknown. What arrives
// meanwhile brings the next look forward: the sooner it is found, the sooner the
// newer input has its turn.
const (
	firstLook   = 500 * time.Millisecond
	nextLook    = time.Second
	tellAfter   = time.Second      // of looking, the user is told
	tellAgain   = 10 * time.Second // again, and again after as long
	closeAfter  = 20 * time.Second // of looking, the part is closed, if the user knows
	closeAlone  = 10 * time.Minute // of looking, likewise, if nothing at all could be shown
	lookTimeout = time.Minute      // a look that has not come back is made again
	sayTimeout  = time.Minute      // a notice whose send has not come back makes way: its process is gone

	mostFailures = 60 // looks that could not be made before they count

	// How long a message that nobody knows the id of can be met by a look. Ids
	// grow: a later look does not go back so far.
	strayKept = 2 * time.Minute
)

// look starts a look for a part. It writes nothing anybody sees, so it can be
// made again if it does not come back.
func (t *step) look(r *Reply, i int, p *Part) {
	if n := t.notice(); n != nil && n.Parts[0].State == Claimed {
		p.wait(t.now, firstLook) // until its id is known: it is not the part
		return
	}
	p.wait(t.now, lookTimeout)
	t.Effects = append(t.Effects, Look{
		Incarnation: t.Incarnation, Reply: r.ID, Index: i, Part: *p,
		Stale: i == 0 && !r.Owned && t.Version != r.Version, Alone: t.now.Sub(t.Stray) > strayKept,
	})
}

// giveUpMoved does without a look for parts that went to a chat which is closed:
// a group that became a supergroup. They can be neither found nor ruled out.
func (t *step) giveUpMoved() {
	for _, l := range []lane{repeatLane, answerLane} {
		r := t.first(l)
		if r == nil {
			continue
		}
		if _, p := r.next(); p != nil && p.State == Unknown && p.Moved && !t.now.Before(p.NotBefore) {
			t.notFound(r, p)
		}
	}
}

// lost gives a notice of unknown outcome up: it is not worth a search.
func (t *step) lost(r *Reply) {
	if r.Notice.Press == nil {
		t.Stray = t.now // a button would tell it from a part
	}
	t.remove(r)
}

// lookAgain brings the look for an unknown part forward: somebody waits for it,
// or a notice was shown whose id bounds the search.
func (t *step) lookAgain() {
	for _, r := range []*Reply{t.repeat(), t.answer()} {
		if r == nil {
			continue
		}
		if _, p := r.next(); p != nil && p.State == Unknown && p.Waited < lookTimeout {
			p.wait(t.now, 0)
		}
	}
}

// looked notes what a look for an unknown part has found.
func (t *step) looked(e Looked) {
	for _, id := range e.Others {
		t.know(Known{ID: id}) // so that the next look does not meet it
	}
	r, p := t.part(e.Reply, e.Index, Unknown)
	if r == nil || e.Incarnation != t.Incarnation {
		return
	}
	if e.Finding == NotLooked && p.Attempts < mostFailures {
		p.Attempts++
		p.Since = t.now // the search has not begun
		p.wait(t.now, nextLook)
		return
	}
	switch e.Finding {
	case Found:
		t.know(Known{ID: e.Receipt})
		t.sent(r, p, e.Receipt)
	case Absent:
		p.absent() // proven, not guessed
	default:
		t.notFound(r, p)
	}
}

// notFound tells the user, after a while, that a part may be missing, with a
// button to see it, and in the end gives up looking for it: neither lost
// without a word nor sent again on a guess.
func (t *step) notFound(r *Reply, p *Part) {
	age := t.now.Sub(p.Since)
	tell := !t.asks(r.Generation) && age >= tellAt(p.Announced)
	doubt := Notice{Code: Doubtful, Language: t.Language, ID: t.errorID(), Press: &Press{
		Do: ShowAnswer, Incarnation: t.Incarnation, Turn: r.turn(), Generation: r.Generation,
	}}
	if tell {
		p.Announced++
	}
	if age < closeAfter || !t.asks(r.Generation) && age < closeAlone {
		p.wait(t.now, nextLook)
	} else {
		t.closePart(r, p)
	}
	if tell {
		t.say(doubt)
	}
}

// tellAt is how long after the outcome became unknown the user is told, for the
// first time and again: as long as no notice is visible for certain.
func tellAt(times int) time.Duration {
	if times == 0 {
		return tellAfter
	}
	return time.Duration(times) * tellAgain
}

// closePart gives up looking. What the user was told keeps its button.
func (t *step) closePart(r *Reply, p *Part) {
	p.State = Closed
	if t.asks(r.Generation) {
		t.Asking = nil
	}
	if len(p.Buttons) == 0 {
		t.Stray = t.now
	}
	if _, open := r.next(); open == nil {
		t.finish(r)
	}
}

// absent makes a part one whose call was never made.
func (p *Part) absent() {
	p.State, p.Attempts, p.NotBefore, p.Waited = Pending, 0, time.Time{}, 0
}

// asks reports whether a visible notice offers to show a reply.
func (t *step) asks(g Generation) bool {
	return t.Asking != nil && t.Asking.Generation == g && !t.Asking.Answered
}

// resolved takes back what is about to ask about a reply whose outcome is known
// now. A notice that asks already keeps its button until the next reply: it
// tells that it is no longer current, and nothing jumps under a finger.
func (t *step) resolved(g Generation) {
	t.Outbox = slices.DeleteFunc(t.Outbox, func(r Reply) bool {
		return r.Notice != nil && r.Notice.Code == Doubtful && r.Notice.Press.Generation == g && r.Parts[0].State == Pending
	})
	if t.asks(g) {
		t.Asking = &Notable{Message: t.Asking.Message, Generation: g, Answered: true}
	}
}

// stopAsking takes the button of a notice away that asks about another reply, or
// about nothing any more.
func (t *step) stopAsking(newest Generation) {
	if a := t.Asking; a != nil && (a.Generation != newest || a.Answered) {
		t.Asking = nil
		t.Effects = append(t.Effects, Unbutton{a.Message})
	}
}

// inDoubt reports whether a part of a reply is being looked for.
func (t *step) inDoubt(g Generation) bool {
	return slices.ContainsFunc(t.Outbox, func(r Reply) bool {
		_, p := r.next()
		return r.Notice == nil && r.Generation == g && p != nil && p.State == Unknown
	})
}
