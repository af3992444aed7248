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
	tellAgain   = 10 * time.Second // of looking, again: had the notice arrived, its id would have ended the search
	closeAfter  = 20 * time.Second // of looking, the part is closed
	lookTimeout = time.Minute      // a look that has not come back is made again

	mostFailures = 60 // looks that could not be made before they count
)

// claim starts what is to be sent and may be sent now: claimed first, in this
// transaction, so that a crash in the middle of the call leaves a trace. A
// notice does not wait for the parts of an answer.
func (t *step) claim() {
	if t.rules.Stopping {
		return
	}
	for _, notices := range []bool{true, false} {
		for i := range t.Outbox {
			if r := &t.Outbox[i]; (r.Notice != nil) == notices {
				t.claimNext(r)
				break // the others wait for this one
			}
		}
	}
}

func (t *step) claimNext(r *Reply) {
	i, p := r.next()
	if p == nil || p.State == Claimed || t.now.Before(p.NotBefore) {
		return
	}
	if r.Notice == nil && !(t.Lease.Delivering && t.Lease.Owner == t.rules.Owner && t.Lease.Live(t.now)) {
		return // due takes the lease first
	}
	if n := t.notice(); p.State == Unknown && n != nil && n.Parts[0].State == Claimed {
		p.wait(t.now, firstLook) // until its id is known: it is not the part
		return
	}
	if p.State == Unknown {
		// A look writes nothing anybody sees, so it can be made again if it
		// does not come back.
		p.wait(t.now, lookTimeout)
		t.Effects = append(t.Effects, Look{
			Incarnation: t.Incarnation, Reply: r.ID, Index: i, Part: *p, Stale: i == 0 && !r.Owned && t.Version != r.Version,
		})
		return
	}
	p.State, p.NotBefore, p.Waited, p.Above = Claimed, time.Time{}, 0, t.HighestID
	send := Send{Incarnation: t.Incarnation, Reply: r.ID, Index: i, Part: *p, Notice: r.Notice}
	if i == 0 {
		send.Target = r.Target
	}
	t.Effects = append(t.Effects, send)
}

func (p *Part) wait(now time.Time, d time.Duration) {
	p.NotBefore, p.Waited = now.Add(d), d
}

// lookAgain brings the look for an unknown part forward: somebody waits for it,
// or a notice was shown whose id bounds the search.
func (t *step) lookAgain() {
	if a := t.answer(); a != nil {
		if _, p := a.next(); p != nil && p.State == Unknown && p.Waited < lookTimeout {
			p.wait(t.now, 0)
		}
	}
}

// part finds what an effect was about; nil if that is history.
func (t *step) part(reply uint64, index int, state PartState) (*Reply, *Part) {
	for i := range t.Outbox {
		if r := &t.Outbox[i]; r.ID == reply && index < len(r.Parts) && r.Parts[index].State == state {
			return r, &r.Parts[index]
		}
	}
	return nil, nil
}

// delivered notes what is known of a part after its call.
func (t *step) delivered(e Delivered) {
	if e.Err == nil {
		t.know(Known{e.Receipt, e.Begun})
	}
	if e.Incarnation != t.Incarnation {
		return // of a conversation that was merged into this one
	}
	r, p := t.part(e.Reply, e.Index, Claimed)
	switch {
	case r == nil:
	case p.Replaces != 0 && e.Err != nil && e.Err.Kind != Moved:
		t.editOutcome(r, p, e.Err)
	case e.Err == nil:
		t.sent(r, p, e.Receipt)
	case e.Err.Kind == Later:
		p.State = Pending
		p.wait(t.now, e.Err.After)
	case e.Err.Kind == NotSent:
		p.State = Pending
		p.Attempts++
		p.wait(t.now, backoff(p.Attempts, r.ID))
	case e.Err.Kind == Moved:
		p.State = Pending
	case e.Err.Kind == Away:
		p.State = Pending
		t.unreachable()
	case e.Err.Kind == Refused:
		p.State = Pending
		t.refused(r)
	case r.Notice != nil:
		t.remove(r) // a notice of unknown outcome is not worth the doubt
	default:
		p.State, p.Attempts, p.Since = Unknown, 0, t.now
		p.wait(t.now, firstLook)
	}
}

// know notes the id of a message of the bot, also for a claim in this step.
func (t *step) know(k Known) {
	t.Known = append(t.Known, k)
	t.HighestID = max(t.HighestID, k.ID)
}

// sent notes a visible part, and ends the reply with its last one.
func (t *step) sent(r *Reply, p *Part, receipt int64) {
	p.State, p.Receipt, p.NotBefore, p.Waited = Sent, receipt, time.Time{}, 0
	if _, p := r.next(); p == nil {
		t.finish(r)
	}
}

// finish ends a reply that has no part left to be sent.
func (t *step) finish(r *Reply) {
	if r.Notice != nil {
		t.remove(r)
		t.lookAgain() // its id is higher than that of a part that was sent before it
		return
	}
	if r.Revises != 0 {
		t.finishRevision(r)
		return
	}
	a := Amendment{ID: r.Version, Stopped: r.Stopped || r.Halted}
	for _, p := range r.Parts {
		if p.State == Sent {
			a.Receipts = append(a.Receipts, p.Receipt)
		}
		a.Unsure = a.Unsure || p.State == Closed
		if r.Stopped {
			a.Reply += p.Text + "\n"
		}
	}
	outcome, reason := WasSent, ""
	if a.Stopped {
		outcome = WasStopped
	}
	if a.Unsure {
		reason = "outcome unknown"
	}
	t.Amend = append(t.Amend, a)
	t.journal(Lease{Version: r.Version, Generation: r.Generation}, outcome, reason, r.Meter)
	version := r.Version
	changed := slices.ContainsFunc(t.Messages, func(m Message) bool { return m.Version <= version && m.Changed > version })
	t.Messages = slices.DeleteFunc(t.Messages, func(m Message) bool { return m.Version <= version })
	t.remove(r)
	if changed { // while it was on its way
		t.revise(&Turn{ID: a.ID, Receipts: a.Receipts, At: t.now})
	}
}

func (t *step) remove(r *Reply) {
	id := r.ID
	t.Outbox = slices.DeleteFunc(t.Outbox, func(o Reply) bool { return o.ID == id })
}

// looked notes what a look for an unknown part has found.
func (t *step) looked(e Looked) {
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
		// Proven, not guessed: it is as if the call had not been made.
		p.State, p.Attempts, p.NotBefore, p.Waited = Pending, 0, time.Time{}, 0
	default:
		t.notFound(r, p)
	}
}

// notFound tells the user, after a while, that a part may be missing,
// and in the end gives up looking for it: neither lost without a word nor sent
// again on a guess.
func (t *step) notFound(r *Reply, p *Part) {
	age := t.now.Sub(p.Since)
	if age < closeAfter {
		p.wait(t.now, nextLook)
	} else {
		p.State = Closed
		if _, open := r.next(); open == nil {
			t.finish(r)
		}
	}
	if age >= tellAfter && p.Announced == 0 || age >= tellAgain && p.Announced == 1 {
		p.Announced++
		t.say(Notice{Code: Doubtful, Language: t.Language, ID: t.errorID()})
	}
}

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
	return left == 0 && a.Revises == 0
}

// abortStale gives up on a first part whose call takes so long that newer input
// has come. It may still become visible, so it is looked for; if it is not
// there, the reply is withdrawn.
func (t *step) abortStale() {
	a := t.answer()
	if a == nil || a.Owned || a.Aborted || a.Revises != 0 || a.Parts[0].State != Claimed || t.Version == a.Version && t.Closing == nil {
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
	version := a.Version
	if a.Revises != 0 { // the old reply stays
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
	if a := t.answer(); a != nil && (a.Revises != 0 || !a.visible()) {
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
	if r.Revises != 0 {
		t.finishRevision(r)
		return
	}
	n := Notice{Code: Undelivered, Language: t.Language, ID: t.errorID()}
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
	if r.Revises != 0 {
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

// recovered takes up what another process has left. Nobody else can be at work:
// its lease is void, and what was claimed may or may not have been sent.
func (t *step) recovered() {
	if t.generating() {
		t.journal(t.Lease, LeaseLost, "its process is gone", Meter{})
	}
	if t.Lease.Keep {
		t.say(Notice{Code: StopDone, Language: t.Language})
	}
	t.Lease = Lease{}
	t.Timer.Due = clamp(t.Timer.Due, t.now, t.Timer.Bound)
	t.Timer.Floor = clamp(t.Timer.Floor, t.now, t.Timer.Bound)
	t.Timer.First = clamp(t.Timer.First, t.now, 0) // or max_wait would begin when the clock has caught up
	t.Outbox = slices.DeleteFunc(t.Outbox, func(r Reply) bool {
		_, p := r.next()
		return p == nil || r.Notice != nil && p.State == Claimed
	})
	for i := range t.Outbox {
		_, p := t.Outbox[i].next()
		p.NotBefore = clamp(p.NotBefore, t.now, p.Waited)
		if p.State == Claimed && p.Replaces != 0 {
			p.State = Pending
		}
		if p.State == Claimed {
			p.State, p.Attempts, p.Since = Unknown, 0, t.now
		}
		if p.State == Unknown {
			p.Since = t.now // a whole search, whatever the clock was
			p.wait(t.now, 0)
		}
	}
	t.deliver()
}

// deliver takes the lease for a reply that is on its way.
func (t *step) deliver() {
	if t.answer() != nil && !t.rules.Stopping {
		t.take()
		t.Lease.Delivering = true
	}
}
