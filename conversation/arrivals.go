package conversation

import (
	"cmp"
	"slices"
	"time"
)

// What people do: the arrivals table of the package comment.

// incoming adds a message to the turn.
func (t *step) incoming(e Incoming) {
	if !e.Addressed && !t.continues(e.Message.Author) {
		return // other people's chatter
	}
	t.join(e)
}

// continues reports whether an author has a turn that has not started yet:
// then what they add in a group belongs to it, mention or not.
func (t *step) continues(a Author) bool {
	if t.Rest != "" {
		return false
	}
	for _, m := range t.Waiting() {
		if m.Author.ID == a.ID && !(t.Lease.Held() && m.Version <= t.Lease.Version) {
			return true
		}
	}
	return false
}

func (t *step) join(e Incoming) {
	t.interrupt(true)
	t.Version++
	m := e.Message
	m.Version, m.Changed = t.Version, t.Version
	t.Messages = append(t.Messages, m)
	t.Group = e.Group
	t.Rest, t.Revising = "", nil
	if e.Language != "" {
		t.Language = e.Language
	}
	t.debounce(e.Hold)
	t.lookAgain()
}

// debounce moves the timer to when the person will have finished, if nothing
// more comes. What a message belongs to can hold it longer; max_wait caps both.
func (t *step) debounce(hold time.Duration) {
	first := t.Timer.First
	if !t.Timer.Set() || t.Timer.Reason != Debounce || t.generating() && !t.Timer.First.After(t.Lease.Started) {
		first = t.now // a new wait: the one before has led to a call, or was no wait for a person
	}
	due := t.now.Add(max(t.rules.Debounce, hold))
	if limit := first.Add(t.rules.MaxWait); due.After(limit) {
		due = limit
	}
	if due.Before(t.Timer.Floor) {
		due = t.Timer.Floor
	}
	t.Timer = Timer{Due: due, First: first, Armed: t.Version, Reason: Debounce, Floor: t.Timer.Floor, Bound: due.Sub(t.now)}
}

// interrupt ends the model call in flight because its input is no longer the
// input, unless the call is protected or the policy lets it finish. It comes
// before the version is raised.
func (t *step) interrupt(mayFinish bool) {
	if !t.generating() || t.Lease.Cancelled != "" || t.Lease.Protected ||
		mayFinish && t.rules.OnNewMessage == Finish && t.Lease.Revises == 0 {
		return
	}
	t.Restarts++
	t.cancel(WasSuperseded)
}

// cancel ends the model call in flight. The lease stays until the call has
// come back, so that no other can start beside it (I4).
func (t *step) cancel(why Outcome) {
	if t.generating() && t.Lease.Cancelled == "" {
		t.Lease.Cancelled = why
		t.Effects = append(t.Effects, Cancel{Incarnation: t.Incarnation, Epoch: t.Lease.Epoch})
	}
}

// edited replaces the text of a message where it stands: in the turn, in the
// history, or in both while a reply is on its way. A change of the history
// alone starts nothing.
func (t *step) edited(e Edited) {
	m, old := t.find(e.Message.Source), inTurn(e.Turn, e.Message.Source)
	switch {
	case m != nil:
		old = m
	case old != nil:
	case e.Group && e.Addressed && t.now.Sub(e.Message.Sent) < mentionWindow:
		t.join(e.Incoming) // the edit added the mention: to the bot the message is new
		return
	default:
		return // dropped by a reset, or older than the bot
	}
	if old.Content.Hash() == e.Message.Content.Hash() {
		return
	}
	t.interrupt(m == nil || m.Version > t.Lease.Version)
	t.Version++
	rewrite := func(m *Message) { m.Content, m.Changed, m.Edited = e.Message.Content, t.Version, true }
	if e.Turn != nil {
		c := *e.Turn
		c.Messages = slices.Clone(c.Messages)
		rewrite(inTurn(&c, e.Message.Source))
		t.Turns = append(t.Turns, c)
	}
	if m != nil {
		rewrite(m)
		t.resume(*m)
	} else {
		t.revise(e.Turn)
	}
}

// mentionWindow is how long after a message in a group an edit that mentions
// the bot makes it input.
const mentionWindow = 10 * time.Minute

// find returns the message of a source that is not in the history for good.
func (t *step) find(src Source) *Message {
	i := slices.IndexFunc(t.Messages, func(m Message) bool { return m.Source == src })
	if i < 0 {
		return nil
	}
	return &t.Messages[i]
}

func inTurn(turn *Turn, src Source) *Message {
	if turn == nil {
		return nil
	}
	i := slices.IndexFunc(turn.Messages, func(m Message) bool { return m.Source == src })
	if i < 0 {
		return nil
	}
	return &turn.Messages[i]
}

// resume starts a new wait because a message of the coming turn has changed.
func (t *step) resume(m Message) {
	a := t.answer()
	if m.Version > t.Answered || a != nil && !a.visible() {
		t.Rest = ""
		t.debounce(0)
		t.lookAgain()
	}
}

// deleted takes a message back where it stands.
func (t *step) deleted(e Deleted) {
	m := t.find(e.Source)
	if m == nil && inTurn(e.Turn, e.Source) == nil {
		return
	}
	t.interrupt(m == nil || m.Version > t.Lease.Version)
	t.Version++
	gone := func(m Message) bool { return m.Source == e.Source }
	if e.Turn != nil {
		c := *e.Turn
		c.Messages = slices.DeleteFunc(slices.Clone(c.Messages), gone)
		t.Turns = append(t.Turns, c)
	}
	t.Messages = slices.DeleteFunc(t.Messages, gone)
	if len(t.Waiting()) == 0 {
		t.Timer = Timer{}
	}
}

// reset drops what waits and forgets the history. A reply that somebody may
// see already is finished first.
func (t *step) reset(e Reset) {
	t.cancel(WasStopped)
	t.Lease.Keep = false
	if a := t.answer(); a != nil && a.visible() {
		t.Closing = &Closing{Language: e.Language, Version: t.Version}
		return
	}
	t.withdraw(WasStopped)
	t.wipe(e.Language, t.Version)
}

// wipe carries a reset out for everything up to a version.
func (t *step) wipe(language string, upTo Version) {
	code := ResetDone
	if t.Turned == 0 && len(t.Messages) == 0 {
		code = NothingToDrop
	}
	t.Version++
	t.drop(upTo)
	t.Closing, t.Turned, t.Budget = nil, 0, 0
	t.Forget, t.Turns, t.Undo, t.Amend = true, nil, nil, nil
	t.Outbox = slices.DeleteFunc(t.Outbox, func(r Reply) bool { return r.Repeat && !r.visible() })
	if t.Buttons != 0 {
		t.Effects = append(t.Effects, Unbutton{t.Buttons})
		t.Buttons = 0
	}
	t.say(Notice{Code: code, Language: language})
}

// drop forgets the unanswered messages up to a version.
func (t *step) drop(upTo Version) {
	t.Messages = slices.DeleteFunc(t.Messages, func(m Message) bool { return m.Version <= upTo })
	t.Answered = max(t.Answered, upTo)
	t.Rest, t.Restarts, t.Failures, t.Revising = "", 0, 0, nil
	if len(t.Messages) == 0 {
		t.Timer = Timer{}
	}
}

// stop ends what is under way, whatever that is.
func (t *step) stop(e Stop) {
	if e.Of != 0 && (e.Of != t.Generation || !t.generating()) {
		return // the button of a preview that is history
	}
	code := NothingToStop
	a := t.answer()
	switch {
	case a != nil && !a.visible():
		t.withdraw(WasStopped)
		t.rest(AfterStop)
		code = StopDone
	case a != nil && t.truncate(a):
		code = StopRest
	case a != nil && a.Of == 0 && a.Parts[0].State != Sent && !a.Stopped:
		a.Stopped, a.StoppedAt = true, t.Version // withdrawn, if it turns out that nobody has seen it
		code = StopDone
	case t.generating() && t.Lease.Cancelled == "":
		t.cancel(WasStopped)
		t.rest(AfterStop)
		t.Lease.Keep = true // the confirmation comes with what was written
		t.Language = cmp.Or(e.Language, t.Language)
		return
	case t.generating() && t.Lease.Cancelled == WasSuperseded:
		t.Lease.Cancelled = WasStopped
		t.rest(AfterStop)
		code = StopDone
	case t.wantsTurn() && a == nil:
		t.drop(t.Version)
		t.Version++
		code = StopDropped
	}
	t.say(Notice{Code: code, Language: e.Language})
}

// left parks the conversation: nobody can be told anything. A part that is on
// its way is left to its outcome.
func (t *step) left() {
	t.cancel(WasStopped)
	t.Lease.Keep = false
	if a := t.answer(); a == nil || !a.visible() {
		t.withdraw(WasStopped)
		t.rest(WhileAway)
	}
}

// rest leaves the unanswered messages alone until something new comes.
func (t *step) rest(why Rest) {
	t.Rest, t.Timer, t.Restarts, t.Failures, t.Revising = why, Timer{}, 0, 0, nil
}

// returned takes the rest up again.
func (t *step) returned() {
	if t.Rest == WhileAway {
		t.Rest = ""
		if len(t.Waiting()) > 0 {
			t.debounce(0)
		}
	}
}

// say puts a notice into the outbox. One that says the same as one that is
// still waiting to be sent adds nothing.
func (t *step) say(n Notice) {
	for _, r := range t.Outbox {
		if r.Notice != nil && r.Notice.Code == n.Code && r.Notice.Text == n.Text && r.Notice.ID == n.ID {
			return
		}
	}
	t.Replies++
	t.Outbox = append(t.Outbox, Reply{ID: t.Replies, Notice: &n, Parts: []Part{{State: Pending}}})
}
