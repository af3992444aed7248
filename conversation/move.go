package conversation

// move gives a conversation another key, in one transaction: a group became a
// supergroup. The old record stays as a signpost, so that a result that is
// still on its way to the old key finds it.
func (u *unit) move(l *loaded, to Key) error {
	from := l.new.Key
	if from == to || !l.existed && l.new.Version == 0 {
		return nil // moved already, or never spoken to
	}
	target, err := u.load(to)
	if err != nil || target.new.Key == from { // a signpost back is no move
		return err
	}
	// Nobody has seen it, and its messages get a turn behind those that moved:
	// it leaves the history before the histories are joined (I7).
	if a := target.new.answer(); a != nil && !a.visible() {
		early := &step{State: target.new.clone(), now: u.now}
		early.withdraw(WasWithdrawn)
		target.new = early.State
		if err := u.record(to, early.Result); err != nil {
			return err
		}
	}
	if err := u.moveHistory(from, to, l.new.Version, l.new.Turned); err != nil {
		return err
	}
	u.join(&l.new, &target.new)
	l.new = State{Key: from, Conversation: Conversation{MovedTo: &to}}
	return nil
}

// join makes target what moved, with what was said in the new chat before the
// bot learnt that it is the same: unanswered, after everything else.
func (u *unit) join(moved, target *State) {
	key, early := target.Key, *target
	*target = moved.clone()
	target.Key = key
	target.Buttons, target.Asking, target.Standing = 0, nil, nil // messages have other ids there
	for i := range target.Outbox {
		if _, p := target.Outbox[i].next(); p != nil && (p.State == Claimed || p.State == Unknown) {
			p.Moved = true
		}
	}
	target.Version += early.Version // their turns and messages come after ours
	if len(early.Waiting()) > 0 && early.Rest == "" {
		target.Rest = ""
	}
	for _, m := range early.Waiting() {
		target.Version++
		m.Version, m.Changed = target.Version, target.Version
		target.Messages = append(target.Messages, m)
	}
	for _, r := range early.Outbox {
		if r.Notice != nil && r.Parts[0].State == Pending {
			target.Replies++
			r.ID = target.Replies
			target.Outbox = append(target.Outbox, r)
		}
	}
	target.Turned += early.Turned
	if early.generating() {
		u.effects = append(u.effects, started{key, Cancel{Incarnation: early.Incarnation, Epoch: early.Lease.Epoch}})
	}
}

// moveHistory puts the turns of the old key before those of the new one.
func (u *unit) moveHistory(from, to Key, shift Version, tokens int) error {
	var old, new []Turn
	for turn, err := range u.tx.History(from) {
		if err != nil {
			return err
		}
		old = append(old, turn)
	}
	for turn, err := range u.tx.History(to) {
		if err != nil {
			return err
		}
		turn.ID += shift
		turn.Offset += tokens
		new = append(new, turn)
	}
	if err := u.tx.ClearHistory(from); err != nil {
		return err
	}
	if err := u.tx.ClearHistory(to); err != nil {
		return err
	}
	for _, turn := range append(old, new...) {
		if err := u.tx.PutTurn(to, turn); err != nil {
			return err
		}
	}
	return nil
}
