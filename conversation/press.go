package conversation

import "slices"

// pressed carries out what a button asks for, if it is still current, and
// tells whoever pressed it. A button that is not current is taken away, unless
// it is one of those that are: what it said was made up then.
func (t *step) pressed(e Pressed) {
	code := Outdated
	if e.Incarnation == t.Incarnation && t.Closing == nil {
		t.sighted(&e)
		switch e.Do {
		case Regenerate:
			code = t.regenerate(e)
		case TurnPage:
			code = t.turnPage(e)
		case ShowAnswer:
			code = t.showAnswer(e)
		case StopAnswer:
			code = t.stopAnswer(e)
		}
		if code == Outdated && e.Message != 0 && !t.buttonsAt(e.Message) {
			t.Effects = append(t.Effects, Unbutton{e.Message})
		}
	}
	if e.Query != "" {
		t.Effects = append(t.Effects, Answer{e.Query, Notice{Code: code, Language: e.Language}})
	}
}

// buttonsAt reports whether a message has buttons that are current.
func (t *step) buttonsAt(message int64) bool {
	return message == t.Buttons || t.Asking != nil && message == t.Asking.Message || t.Standing != nil && message == t.Standing.Message
}

// sighted takes note that a part is visible, whatever is known of the call that
// shows it: its button was pressed.
func (t *step) sighted(e *Pressed) {
	for i := range t.Outbox {
		r := &t.Outbox[i]
		_, p := r.next()
		if e.Message == 0 || r.Notice != nil || p == nil || p.Replaces != 0 || p.State != Claimed && p.State != Unknown ||
			!slices.ContainsFunc(p.Buttons, func(b Button) bool { return b.Press == e.Press }) {
			continue
		}
		t.know(Known{ID: e.Message})
		t.sent(r, p, e.Message)
		break
	}
	for _, a := range t.Amend {
		if e.Turn != nil && a.ID == e.Turn.ID {
			seen := *e.Turn
			seen.amend(a)
			e.Turn = &seen
		}
	}
}

// current reports whether the buttons of a reply still are the last reply's, as
// it is visible, and nothing newer is waiting.
func (t *step) current(e Pressed) bool {
	turn := e.Turn
	return t.rules.Regenerate != NoRegenerate && turn != nil && turn.ID == t.Answered && turn.Generation == e.Generation &&
		len(turn.Messages) > 0 && slices.Contains(turn.Receipts, e.Message) && len(t.Waiting()) == 0 && t.Rest != WhileAway
}

// regenerate asks for another answer in the place of the visible one.
func (t *step) regenerate(e Pressed) NoticeCode {
	if !t.current(e) {
		return Outdated
	}
	a := t.answer()
	wanted := t.Revising != nil || a != nil || t.generating() && t.Lease.Cancelled == ""
	switch {
	case wanted && t.rules.Regenerate != LastRequested:
		return Busy
	case t.Revising != nil && !t.generating():
		return Redoing // the call has not begun
	case a != nil && !a.visible():
		t.withdraw(WasSuperseded)
	}
	t.cancel(WasSuperseded)
	t.Rest = ""
	t.Revising = &Revising{Turn: e.Turn.ID, Receipts: e.Turn.Receipts, Again: true}
	if t.rules.Regenerate == Choose {
		t.Revising.Page = min(max(1, len(e.Turn.Variants))+1, mostVariants)
	}
	t.Timer = Timer{Due: t.now, First: t.now, Armed: t.Version, Reason: Resume}
	return Redoing
}

// turnPage shows another of the answers that there are.
func (t *step) turnPage(e Pressed) NoticeCode {
	switch {
	case !t.current(e), e.Page < 1, e.Page > len(e.Turn.Variants), len(e.Parts) == 0:
		return Outdated
	case e.Page == e.Turn.Page:
		return Nothing
	case t.Revising != nil, t.answer() != nil, t.generating():
		return Busy
	}
	v := e.Turn.Variants[e.Page-1]
	t.Replies++
	r := Reply{
		ID: t.Replies, Version: t.Version, Before: t.Answered, Generation: v.Generation,
		Of: e.Turn.ID, Text: v.Text, Page: e.Page, Owned: true, Fixed: true, Parts: slices.Clone(e.Parts),
	}
	r.replace(e.Turn.Receipts, t.replyButtons(r.Of, r.Generation, r.Page, len(e.Turn.Variants)))
	t.Outbox = append(t.Outbox, r)
	t.deliver()
	return Nothing
}

// showAnswer shows what may never have arrived: whoever asks does not see it.
// If it is still being looked for, that is what the look was to find out.
func (t *step) showAnswer(e Pressed) NoticeCode {
	if t.Asking != nil && t.Asking.Message == e.Message {
		t.Asking = nil // not current from now on
	}
	for i := range t.Outbox {
		r := &t.Outbox[i]
		if r.Notice != nil || r.turn() != e.Press.Turn || r.Generation != e.Generation {
			continue
		}
		if _, p := r.next(); p != nil && p.State == Unknown {
			p.absent()
			t.Effects = append(t.Effects, Unbutton{e.Message})
			return Showing
		}
		return Busy
	}
	if e.Turn == nil || e.Turn.Generation != e.Generation || len(e.Turn.Missing) == 0 {
		return Outdated
	}
	t.Replies++
	t.Outbox = append(t.Outbox, Reply{
		ID: t.Replies, Version: e.Turn.ID, Generation: e.Generation, Of: e.Turn.ID, Repeat: true,
		Owned: true, Fixed: true, Parts: slices.Clone(e.Turn.Missing),
	})
	t.Effects = append(t.Effects, Unbutton{e.Message})
	return Showing
}

// stopAnswer is the way to stop where the chat shows no preview.
func (t *step) stopAnswer(e Pressed) NoticeCode {
	if !t.wanted(e.Generation) {
		return Outdated
	}
	t.stop(Stop{Language: e.Language, Of: e.Generation})
	return Nothing
}

// unseen offers to stop a model call that takes long and that nobody sees.
func (t *step) unseen(e Unseen) {
	if e.Work.Incarnation == t.Incarnation && t.wanted(e.Work.Generation) {
		t.say(Notice{Code: Working, Language: t.Language, Press: &Press{
			Do: StopAnswer, Incarnation: t.Incarnation, Turn: e.Work.Version, Generation: e.Work.Generation,
		}})
	}
}

// wanted reports whether a generation is in flight and its result is wanted.
func (t *step) wanted(g Generation) bool {
	return t.generating() && t.Lease.Cancelled == "" && t.Lease.Generation == g
}

// clearUp removes what offered to stop a model call that is over.
func (t *step) clearUp() {
	t.Outbox = slices.DeleteFunc(t.Outbox, func(r Reply) bool {
		return r.Notice != nil && r.Notice.Code == Working && r.Parts[0].State == Pending && !t.wanted(r.Notice.Press.Generation)
	})
	if s := t.Standing; s != nil && !t.wanted(s.Generation) {
		t.Standing = nil
		t.Effects = append(t.Effects, Remove{s.Message})
	}
}
