package conversation

import (
	"context"
	"errors"
	"time"
)

// due does what a deadline asks for.
func (t *step) due() {
	l := t.Lease
	mine := l.Owner == t.rules.Owner
	switch {
	case l.Live(t.now) && mine:
		t.renew()
	case l.Live(t.now):
		// Somebody else works on it. Nothing is dropped: Next looks again when
		// that can have ended.
	case l.Held() && mine && t.generating():
		// The process slept through its own lease. The call may still be in
		// flight, so the conversation is free only when it has come back.
		t.cancel(LeaseLost)
	case l.Held() && !mine:
		t.recovered()
		t.start()
	default:
		t.start()
	}
}

// renew extends the lease of work in progress, also of a call that was
// cancelled: until it has come back, no other may start (I4). If another worker
// has cancelled it, this is where its own gets to know.
func (t *step) renew() {
	if t.now.Before(t.Lease.renewAt(t.rules.LeaseTTL)) {
		return
	}
	t.Lease.Expiry = t.now.Add(t.rules.LeaseTTL)
	if t.generating() && t.Lease.Cancelled != "" {
		t.Effects = append(t.Effects, Cancel{Incarnation: t.Incarnation, Epoch: t.Lease.Epoch})
	}
}

// start takes the snapshot of a turn and asks the model, if that is due.
func (t *step) start() {
	if t.answer() != nil {
		t.deliver()
		return
	}
	if t.rules.Stopping || t.rules.Crowded || !t.wantsTurn() || !t.Timer.Set() || t.now.Before(t.Timer.Due) {
		return
	}
	t.Generation++
	t.take()
	if t.Revising != nil {
		t.Lease.Revises, t.Lease.Again = t.Revising.Turn, t.Revising.Again
	}
	t.Lease.Protected = t.Restarts >= t.rules.MaxRestarts
	t.Effects = append(t.Effects, Generate{Work: t.Lease, Turn: t.Waiting(), State: t.State.clone()})
}

// generated is the one place where an outdated result is dropped: its lease is
// another's or over, it was cancelled, or the input is no longer its input.
func (t *step) generated(e Generated) {
	l := t.Lease
	if l.Owner != e.Work.Owner || l.Epoch != e.Work.Epoch || l.Incarnation != e.Work.Incarnation || l.Delivering {
		t.journal(e.Work, LeaseLost, "another worker has it", e.Meter)
		return
	}
	live := l.Live(t.now)
	t.Lease = Lease{}
	t.Tokens = t.Tokens.Plus(e.Meter.Tokens)
	switch {
	case l.Keep:
		t.halted(l, e, live)
	case l.Cancelled != "":
		if l.Cancelled == WasSuperseded && errors.Is(e.Err, ErrNotAsked) {
			t.Restarts = max(0, t.Restarts-1)
		}
		t.journal(l, l.Cancelled, "", e.Meter)
	case !live:
		t.journal(l, LeaseLost, "expired", e.Meter)
	case t.rules.Stopping && errors.Is(e.Err, context.Canceled):
		t.journal(l, LeaseLost, "shutdown", e.Meter)
	case e.Err != nil:
		t.failed(l, e)
	case t.stale(l), l.Revises != 0 && t.Revising == nil:
		t.journal(l, WasStale, "", e.Meter)
	case l.Revises != 0:
		t.commitRevision(l, e)
	default:
		t.commit(l, e)
	}
}

// stale reports whether the input has moved on since the snapshot of a lease
// (I3). A protected turn may be older than the newest input; so may one of the
// policy finish, as long as nothing that it covers was edited.
func (t *step) stale(l Lease) bool {
	switch {
	case t.Generation != l.Generation:
		return true
	case l.Protected:
		return false
	case t.rules.OnNewMessage == Finish && l.Revises == 0:
		for _, m := range t.Waiting() {
			if m.Version <= l.Version && m.Changed > l.Version {
				return true
			}
		}
		return false
	}
	return t.Version != l.Version
}

// commit makes the answer a reply that will be delivered: outbox, history and
// timer in the transaction in which it was found to be current.
func (t *step) commit(l Lease, e Generated) {
	var covered []Message
	newer := false
	for _, m := range t.Waiting() {
		if m.Version <= l.Version {
			covered = append(covered, m)
		} else {
			newer = true
		}
	}
	if len(covered) == 0 { // all of it was taken back
		t.journal(l, WasStale, "nothing left to answer", e.Meter)
		return
	}
	r := t.newReply(l, e)
	if t.Group || r.Owned || newer {
		r.Target = covered[len(covered)-1].Source
	}
	turn := Turn{
		ID: l.Version, Messages: covered, Reply: e.Text, Generation: l.Generation, At: t.now, Offset: t.Turned, Stopped: l.Keep,
	}
	turn.Tokens = turnTokens(turn)
	r.Tokens, r.Restarts = turn.Tokens, t.Restarts
	t.Turned += turn.Tokens
	t.Turns = append(t.Turns, turn)
	t.Outbox = append(t.Outbox, r)
	t.Answered, t.Restarts, t.Failures = l.Version, 0, 0
	if t.Timer.Armed <= l.Version {
		t.Timer = Timer{}
	}
	t.Lease = l
	t.Lease.Delivering, t.Lease.Cancelled, t.Lease.Keep = true, "", false
}

// newReply makes a reply of an answer, none of it visible yet.
func (t *step) newReply(l Lease, e Generated) Reply {
	t.learn(e)
	t.Replies++
	r := Reply{
		ID: t.Replies, Version: l.Version, Before: t.Answered, Generation: l.Generation, Meter: e.Meter, Parts: e.Parts,
		Owned: l.Protected || l.Keep || t.rules.OnNewMessage == Finish, Halted: l.Keep,
		Fixed: l.Protected || l.Keep,
	}
	for i := range r.Parts {
		r.Parts[i].State = Pending
	}
	putButtons(r.Parts, t.replyButtons(l.Version, l.Generation, 1, 1))
	return r
}

// halted ends a call that its user has stopped: what was written is the reply.
// Without a word of it the messages stay, as context of the next turn.
func (t *step) halted(l Lease, e Generated, live bool) {
	if len(e.Parts) > 0 && live && l.Revises == 0 {
		t.commit(l, e)
		t.Rest = ""
		return
	}
	t.journal(l, WasStopped, "", e.Meter)
	t.say(Notice{Code: StopDone, Language: t.Language})
}

// learn corrects the estimate of tokens by what the service reported.
func (t *step) learn(e Generated) {
	if e.Budget > 0 {
		t.Budget = e.Budget
	}
	if e.Meter.Tokens.Prompt <= 0 || e.Estimate <= 0 {
		return
	}
	seen := min(max(float64(e.Meter.Tokens.Prompt)/float64(e.Estimate), 0.3), 3)
	if t.Ratio == 0 {
		t.Ratio = seen
	}
	t.Ratio += (seen - t.Ratio) / 4
}

// failed decides whether a call that failed is worth another one. If not, the
// user is told once; the messages stay and are part of the next turn.
func (t *step) failed(l Lease, e Generated) {
	why := &ModelError{Kind: Rejected}
	errors.As(e.Err, &why)
	if why.Kind == Temporary && t.Failures < t.rules.Retries && why.RetryAfter <= longestRetry {
		t.Failures++
		t.journal(l, WasFailed, string(why.Kind)+", will try again", e.Meter)
		t.retryAt(max(why.RetryAfter, backoff(t.Failures, t.Generation)))
		return
	}
	id := t.errorID()
	t.journal(l, WasFailed, string(why.Kind), e.Meter)
	t.Revising = nil // the old reply stays
	t.Journal[len(t.Journal)-1].ID = id
	code := map[ModelErrorKind]NoticeCode{Denied: Unanswerable, ContextTooBig: TooLong}[why.Kind]
	if code == "" {
		code = Failed
	}
	t.say(Notice{Code: code, Language: t.Language, ID: id})
	if t.Timer.Armed > l.Version { // newer input has a turn of its own, with these messages
		t.Failures, t.Restarts = 0, 0
		return
	}
	t.rest(AfterFailure)
}

// longestRetry bounds how long a person waits in silence for a service that
// asked to be left alone (I5). A longer wait ends in a notice.
const longestRetry = time.Minute

// retryAt puts the turn off. What arrives meanwhile joins it, but does not
// bring it forward.
func (t *step) retryAt(wait time.Duration) {
	due := t.now.Add(wait)
	if t.Timer.Reason == Debounce && t.Timer.Due.After(due) {
		due = t.Timer.Due // somebody is still typing
	}
	t.Timer = Timer{Due: due, First: t.now, Armed: t.Version, Reason: Retry, Floor: due, Bound: wait}
}

// backoff is the n-th wait after a failure, from half a second to half a
// minute. The salt spreads the conversations that failed together. A record can
// hold any n.
func backoff[N ~uint64](n int, salt N) time.Duration {
	wait := min(500*time.Millisecond<<min(max(n-1, 0), 6), 30*time.Second)
	return wait + wait*time.Duration(uint64(salt)*7919%16)/64
}
