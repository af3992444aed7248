package conversation

import (
	"slices"
	"time"
)

// claim starts what is to be sent and may be sent now: claimed first, in this
// transaction, so that a crash in the middle of the call leaves a trace.
func (t *step) claim() {
	if t.rules.Stopping {
		return
	}
	for _, l := range []lane{noticeLane, repeatLane, answerLane} {
		if r := t.first(l); r != nil {
			t.claimNext(r, l)
		}
	}
}

func (t *step) claimNext(r *Reply, l lane) {
	i, p := r.next()
	if p == nil || p.State == Claimed || t.now.Before(p.NotBefore) {
		return
	}
	if l == answerLane && !(t.Lease.Delivering && t.Lease.Owner == t.rules.Owner && t.Lease.Live(t.now)) {
		return // due takes the lease first
	}
	if p.State == Unknown {
		t.look(r, i, p)
		return
	}
	p.State, p.NotBefore, p.Waited, p.Above, p.Moved = Claimed, time.Time{}, 0, t.HighestID, false
	if r.Notice != nil {
		p.wait(t.now, sayTimeout)
	}
	send := Send{Incarnation: t.Incarnation, Reply: r.ID, Index: i, Part: *p, Notice: r.Notice}
	if i == 0 {
		send.Target = r.Target
	}
	t.Effects = append(t.Effects, send)
}

func (p *Part) wait(now time.Time, d time.Duration) {
	p.NotBefore, p.Waited = now.Add(d), d
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
		t.lost(r)
	default:
		p.State, p.Attempts, p.Since = Unknown, 0, t.now
		p.wait(t.now, firstLook)
	}
}

// dropLost drops a notice that was claimed by a process which is gone, or it
// would be in the way of all others for ever (I5). Only a process that knows
// that it is alone is told so by [Recovered].
func (t *step) dropLost() {
	if n := t.notice(); n != nil && n.Parts[0].State == Claimed && !t.now.Before(n.Parts[0].NotBefore) {
		t.lost(n)
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
	id, generation := r.ID, r.Generation
	if r.Notice == nil {
		t.resolved(generation)
		r = t.reply(id)
	}
	if _, p := r.next(); p == nil {
		t.finish(r)
	}
}

// finish ends a reply that has no part left to be sent.
func (t *step) finish(r *Reply) {
	switch {
	case r.Notice != nil:
		t.finishNotice(r)
	case r.Repeat:
		t.finishRepeat(r)
	case r.Of != 0:
		t.finishRevision(r)
	default:
		t.finishAnswer(r)
	}
}

// finishNotice remembers what has to be taken back later.
func (t *step) finishNotice(r *Reply) {
	receipt := r.Parts[0].Receipt
	if press := r.Notice.Press; press != nil {
		shown := &Notable{Message: receipt, Generation: press.Generation}
		switch {
		case r.Notice.Code == Working:
			t.Standing = shown
		case t.inDoubt(press.Generation):
			t.stopAsking(press.Generation)
			t.Asking = shown
		}
	}
	t.remove(r)
	t.lookAgain() // its id is higher than that of a part that was sent before it
}

// finishAnswer notes in the history what the user has seen.
func (t *step) finishAnswer(r *Reply) {
	a := Amendment{ID: r.Version, Stopped: r.Stopped || r.Halted, Receipts: r.receipts(), Missing: r.missing()}
	if r.Stopped {
		for _, p := range r.Parts {
			a.Reply += p.Text + "\n"
		}
	}
	outcome, reason := WasSent, ""
	if a.Stopped {
		outcome = WasStopped
	}
	if len(a.Missing) > 0 {
		reason = "outcome unknown"
	}
	t.Amend = append(t.Amend, a)
	t.journal(Lease{Version: r.Version, Generation: r.Generation}, outcome, reason, r.Meter)
	t.moveButtons(r)
	if a := t.Asking; a != nil && a.Generation != r.Generation {
		t.stopAsking(r.Generation)
	}
	version := r.Version
	changed := slices.ContainsFunc(t.Messages, func(m Message) bool { return m.Version <= version && m.Changed > version })
	t.Messages = slices.DeleteFunc(t.Messages, func(m Message) bool { return m.Version <= version })
	t.remove(r)
	if changed { // while it was on its way
		t.revise(&Turn{ID: a.ID, Receipts: a.Receipts, At: t.now})
	}
}

// finishRepeat notes that what was missing is visible now.
func (t *step) finishRepeat(r *Reply) {
	t.Amend = append(t.Amend, Amendment{ID: r.Of, Repeat: true, Receipts: r.receipts(), Missing: r.missing()})
	if r.Of == t.Answered {
		t.moveButtons(r)
	}
	t.remove(r)
}

// receipts are the ids of the visible messages of a reply.
func (r *Reply) receipts() (ids []int64) {
	for _, p := range r.Parts {
		if p.State == Sent && p.Text != "" {
			ids = append(ids, p.Receipt)
		}
	}
	return ids
}

// missing are the parts that may never have become visible, as they are to be
// sent if somebody asks for them.
func (r *Reply) missing() (parts []Part) {
	for _, p := range r.Parts {
		if p.State == Closed {
			parts = append(parts, Part{
				Text: p.Text, Entities: p.Entities, Rich: p.Rich, File: p.File, Buttons: p.Buttons, State: Pending,
			})
		}
	}
	return parts
}

// moveButtons notes which message has the buttons now. Those of the reply
// before are history.
func (t *step) moveButtons(r *Reply) {
	var now int64
	for _, p := range r.Parts {
		if len(p.Buttons) > 0 && p.State == Sent {
			now = p.Receipt
		}
	}
	if t.Buttons != 0 && t.Buttons != now && !r.replaces(t.Buttons) {
		t.Effects = append(t.Effects, Unbutton{t.Buttons})
	}
	t.Buttons = now
}

// replaces reports whether a part stands in the place of a message.
func (r *Reply) replaces(id int64) bool {
	return slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Replaces == id })
}

// reply finds a reply by its id.
func (t *step) reply(id uint64) *Reply {
	for i := range t.Outbox {
		if t.Outbox[i].ID == id {
			return &t.Outbox[i]
		}
	}
	return nil
}

func (t *step) remove(r *Reply) {
	id := r.ID
	t.Outbox = slices.DeleteFunc(t.Outbox, func(o Reply) bool { return o.ID == id })
}
