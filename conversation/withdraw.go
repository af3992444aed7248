package conversation

import "slices"

// How a reply ends that is not shown, or not all of it.

// withdrawStale takes a reply back that nobody has seen and that is no longer
// an answer to all there is (I3). It runs before every claim, so that the check
// and the claim are one transaction, after any wait.
func (t *step) withdrawStale() {
	switch a := t.answer(); {
	case a == nil || a.visible():
	case a.Stopped: // while its first part was on its way
		newer := t.Version != a.StoppedAt
		t.withdraw(WasStopped)
		if !newer {
			t.rest(AfterStop)
		}
	case t.Closing != nil: // likewise
		t.withdraw(WasStopped)
	case !a.Owned && t.Version != a.Version, a.Owned && !a.Fixed && t.rewritten(a):
		t.Restarts = a.Restarts + 1 // so that flood waits cannot put a busy writer off for ever
		t.withdraw(WasWithdrawn)
	}
}

// rewritten reports whether something that a reply covers was edited or taken
// back since its snapshot.
func (t *step) rewritten(a *Reply) bool {
	left := 0
	for _, m := range t.Messages {
		if m.Version > a.Before && m.Version <= a.Version {
			left++
			if m.Changed > a.Version {
				return true
			}
		}
	}
	return left == 0 && a.Of == 0
}

// abortStale gives up on a first part whose call takes so long that newer input
// has come. It may still become visible, so it is looked for; if it is not
// there, the reply is withdrawn.
func (t *step) abortStale() {
	a := t.answer()
	if a == nil || a.Owned || a.Aborted || a.Of != 0 || a.Parts[0].State != Claimed || a.Parts[0].Moved || t.Version == a.Version && t.Closing == nil {
		return
	}
	a.Aborted = true
	t.Effects = append(t.Effects, Abort{Incarnation: t.Incarnation, Reply: a.ID})
}

// withdraw makes the messages of a reply that nobody has seen unanswered
// again. If there is no reply it does nothing.
func (t *step) withdraw(why Outcome) {
	a := t.answer()
	if a == nil {
		return
	}
	t.journal(Lease{Version: a.Version, Generation: a.Generation}, why, "", a.Meter)
	t.resolved(a.Generation)
	a = t.answer()
	version := a.Version
	if a.Of != 0 { // the old reply stays
		t.remove(a)
		return
	}
	t.Answered = a.Before
	t.Turned -= a.Tokens
	t.Turns = slices.DeleteFunc(t.Turns, func(u Turn) bool { return u.ID == version })
	t.Undo = append(t.Undo, version)
	t.remove(a)
}

// unreachable parks the conversation after the chat refused the bot.
func (t *step) unreachable() {
	if a := t.answer(); a != nil && (a.Of != 0 || !a.visible()) {
		t.withdraw(WasStopped)
	} else if a != nil {
		t.truncate(a)
	}
	t.cancel(WasStopped)
	t.Outbox = slices.DeleteFunc(t.Outbox, func(o Reply) bool { return o.Notice != nil })
	t.rest(WhileAway)
}

// refused ends a reply that the channel will never take.
func (t *step) refused(r *Reply) {
	if r.Notice != nil {
		t.remove(r)
		return
	}
	n := Notice{Code: Undelivered, Language: t.Language, ID: t.errorID()}
	if r.Repeat {
		t.remove(r)
		t.say(n)
		return
	}
	if r.Of != 0 {
		t.finishRevision(r)
		return
	}
	if r.visible() {
		t.truncate(r)
	} else {
		newer := t.Timer.Armed > r.Version // it has a turn of its own, with these messages
		t.withdraw(WasFailed)
		if !newer {
			t.rest(AfterFailure)
		}
	}
	t.say(n)
}

// truncate drops the parts of a visible reply that nobody has seen, and reports
// whether there were any. A part whose call is under way is not dropped.
func (t *step) truncate(r *Reply) bool {
	n := len(r.Parts)
	if r.Of != 0 {
		return false // half of it would be neither answer
	}
	for n > 0 && r.Parts[n-1].State == Pending {
		n--
	}
	if n == len(r.Parts) {
		return false
	}
	r.Parts = r.Parts[:n]
	r.Stopped, r.StoppedAt = true, t.Version
	if _, p := r.next(); p == nil {
		t.finish(r)
	}
	return true
}
