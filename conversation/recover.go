package conversation

import "time"

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
	t.catchUp()
	for i := 0; i < len(t.Outbox); {
		r := &t.Outbox[i]
		switch _, p := r.next(); {
		case p == nil:
			t.remove(r)
		case r.Notice != nil && p.State == Claimed:
			t.lost(r)
		default:
			i++
		}
	}
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
	if t.Stray.After(t.now) {
		t.Stray = t.now
	}
	t.deliver()
}

// mostCatchUp bounds how long what is due waits after a restart for what people
// have written while nobody listened. That is about to come in, and an answer
// without it would be one to the question before last.
const mostCatchUp = 500 * time.Millisecond

// catchUp puts off what nobody has seen yet.
func (t *step) catchUp() {
	wait := min(mostCatchUp, t.rules.Debounce)
	soon := t.now.Add(wait)
	if a := t.answer(); a != nil && !a.visible() {
		if p := &a.Parts[0]; p.NotBefore.Before(soon) {
			p.wait(t.now, wait)
		}
	}
	switch {
	case t.answer() != nil || !t.wantsTurn():
	case !t.Timer.Set():
		t.Timer = Timer{Due: soon, First: t.now, Armed: t.Version, Reason: Resume, Bound: wait}
	case t.Timer.Due.Before(soon):
		t.Timer.Due = soon
	}
}

// deliver takes the lease for a reply that is on its way.
func (t *step) deliver() {
	if t.answer() != nil && !t.rules.Stopping {
		t.take()
		t.Lease.Delivering = true
	}
}
