package conversation

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"time"
)

// unit is one transaction of the engine: the conversations that its events
// touch, each read once and written back once, and what follows after the
// commit. If the commit fails the unit is forgotten, and nothing has happened.
type unit struct {
	engine  *Engine
	tx      Tx
	now     time.Time
	loaded  map[Key]*loaded
	order   []*loaded
	effects []started
	asked   int // model calls among the effects
	highest map[int64]int64
	proofs  map[int64]proof
	pruned  time.Time // when this unit forgot what is old, if it did
}

// started is an effect of a conversation.
type started struct {
	key    Key
	effect Effect
}

func (e *Engine) newUnit() *unit {
	return &unit{engine: e, now: e.now(), loaded: map[Key]*loaded{}, highest: map[int64]int64{}, proofs: map[int64]proof{}}
}

// apply does everything that is done in the transaction.
func (u *unit) apply(tx Tx, requests []request) error {
	u.tx = tx
	for _, r := range requests {
		if r.batch == nil {
			if err := u.step(r.key, r.event); err != nil {
				return err
			}
			continue
		}
		if err := u.accept(*r.batch); err != nil {
			return err
		}
	}
	for _, l := range u.order {
		if err := l.write(tx); err != nil {
			return err
		}
	}
	return u.prune()
}

// prune forgets what is old, a bounded piece at a time.
func (u *unit) prune() error {
	if u.now.Sub(u.engine.pruned) < pruneEvery {
		return nil
	}
	const limit = 1000
	n, err := u.tx.Prune(u.now.Add(-journalKept), u.now.Add(-seenKept), limit)
	if n < limit {
		u.pruned = u.now
	}
	return err
}

// OffsetName is the name of the meta value in which the update offset of an
// identity is kept, in decimal.
func OffsetName(identity string) string { return "offset/" + identity }

// accept stores a batch: what was seen before is dropped, the rest is applied,
// the offset kept.
func (u *unit) accept(b Batch) error {
	for _, a := range b.Arrivals {
		fresh, err := u.fresh(b.Identity, a)
		if err != nil {
			return err
		}
		if fresh && a.Event != nil {
			if err := u.step(a.Key, a.Event); err != nil {
				return err
			}
		}
	}
	return u.tx.SetMeta(OffsetName(b.Identity), strconv.AppendInt(nil, b.Offset, 10))
}

// step applies one event to one conversation. A record that cannot be read, or
// a rule that panics, costs that event and nothing else.
func (u *unit) step(k Key, e Event) error {
	l, err := u.load(k)
	if err == nil {
		l, err = u.follow(l, e)
	}
	if err != nil {
		u.engine.log.Error("an event was dropped: a record cannot be read", "chat", k.Chat, "event", fmt.Sprintf("%T", e), "err", err)
		return nil
	}
	e = u.withTurn(l.new.Key, e)
	l.new.HighestID = u.top(u.engine.channel.Sequence(l.new.Key.Chat))
	next, result, err := u.tryStep(l.new, e)
	if g, ok := e.(Generated); ok && err != nil {
		// Without its result the lease would be kept for ever.
		u.engine.log.Error("a result was dropped: the rules panicked", "chat", k.Chat, "err", err)
		next, result, err = u.tryStep(l.new, Generated{Work: g.Work, Meter: g.Meter, Err: errors.New("panic")})
	}
	if err != nil {
		u.engine.log.Error("an event was dropped: the rules panicked", "chat", k.Chat, "event", fmt.Sprintf("%T", e), "err", err)
		return nil
	}
	l.new = next
	return u.record(next.Key, result)
}

// follow moves a conversation if an event says that its chat has another id
// now, and returns where it is then.
func (u *unit) follow(l *loaded, e Event) (*loaded, error) {
	to := l.new.Key
	switch e := e.(type) {
	case Migrated:
		to.Chat = e.To.Chat
	case Delivered:
		if e.Err != nil && e.Err.Kind == Moved {
			to.Chat = e.Err.To
		}
	}
	if to == l.new.Key {
		return l, nil
	}
	if err := u.move(l, to); err != nil {
		return nil, err
	}
	return u.load(to)
}

// tryStep turns a panic of the rules into an error.
func (u *unit) tryStep(s State, e Event) (next State, r Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	rules := u.engine.rules
	rules.Crowded = u.engine.places() <= u.asked
	next, r = rules.Step(s, e, u.now)
	return next, r, nil
}

// turnsSearched is how far back an edit finds its message.
const turnsSearched = 200

// withTurn adds the turn of the history that an edit or a deletion is about.
func (u *unit) withTurn(k Key, e Event) Event {
	switch e := e.(type) {
	case Edited:
		e.Turn = u.search(k, e.Message.Source)
		return e
	case Deleted:
		e.Turn = u.search(k, e.Source)
		return e
	case Pressed:
		return u.withPage(k, e)
	}
	return e
}

// withPage adds the turn that a button is about, and the page that it turns to.
func (u *unit) withPage(k Key, e Pressed) Event {
	turn, found, err := u.tx.Turn(k, e.Press.Turn)
	if err != nil {
		u.engine.log.Error("a button does nothing: a record cannot be read", "chat", k.Chat, "err", err)
	}
	if !found || err != nil {
		return e
	}
	e.Turn = &turn
	if e.Do == TurnPage && e.Page >= 1 && e.Page <= len(turn.Variants) {
		e.Parts = u.engine.channel.Compose(turn.Variants[e.Page-1].Text)
	}
	return e
}

func (u *unit) search(k Key, src Source) *Turn {
	n := 0
	for turn, err := range u.tx.History(k) {
		if err != nil {
			u.engine.log.Error("an edit does not reach the history: a record cannot be read", "chat", k.Chat, "err", err)
			return nil
		}
		if inTurn(&turn, src) != nil {
			return &turn
		}
		if n++; n == turnsSearched {
			break
		}
	}
	return nil
}

// record writes what a step wants beside the state.
func (u *unit) record(k Key, r Result) error {
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	if r.Forget {
		do(u.tx.ClearHistory(k))
	}
	for _, id := range r.Undo {
		do(u.tx.DeleteTurn(k, id))
	}
	for _, turn := range r.Turns {
		do(u.tx.PutTurn(k, turn))
		do(u.retain(k, turn))
	}
	for _, a := range r.Amend {
		do(u.amend(k, a))
	}
	for _, j := range r.Journal {
		do(u.tx.AddJournal(k, j))
		u.engine.log.Debug("generation ended", "chat", k.Chat, "generation", j.Generation, "version", j.Version,
			"outcome", j.Outcome, "reason", j.Reason, "id", j.ID, "took", j.Meter.Took)
	}
	for _, known := range r.Known {
		src := Source{Chat: k.Chat, ID: known.ID}
		do(u.tx.PutSeen(k.Identity(), src, Sight{At: u.now}))
		u.sight(src)
		if seq := u.engine.channel.Sequence(k.Chat); known.Begun.After(u.engine.proofs[seq].begun) {
			u.proofs[seq] = proof{known.ID, known.Begun}
		}
	}
	for _, e := range r.Effects {
		if _, ok := e.(Generate); ok {
			u.asked++
		}
		u.effects = append(u.effects, started{k, e})
	}
	return errors.Join(errs...)
}

// amend notes in the history what became of a reply.
func (u *unit) amend(k Key, a Amendment) error {
	turn, found, err := u.tx.Turn(k, a.ID)
	if err != nil {
		u.engine.log.Error("a turn of the history cannot be read", "chat", k.Chat, "err", err)
	}
	if !found {
		return nil
	}
	turn.amend(a)
	return u.tx.PutTurn(k, turn)
}

// load reads a conversation once in a transaction, where it is now.
func (u *unit) load(k Key) (*loaded, error) {
	const mostMoves = 10 // a chat moves once; signposts in a circle are damage
	for range mostMoves {
		l, err := u.read(k)
		if err != nil || l.new.MovedTo == nil {
			return l, err
		}
		to := *l.new.MovedTo
		if to.Identity() != k.Identity() {
			return nil, fmt.Errorf("bucket conversations, key %q: the record is damaged: it points to no chat of this bot", k)
		}
		k = to
	}
	return nil, fmt.Errorf("bucket conversations, key %q: the record is damaged: it points in a circle", k)
}

// read reads what is at a key. A signpost is read only.
func (u *unit) read(k Key) (*loaded, error) {
	if l := u.loaded[k]; l != nil {
		return l, nil
	}
	s, existed, err := readState(u.tx, k)
	if err != nil {
		return nil, err
	}
	l := &loaded{old: s, existed: existed}
	if s.MovedTo != nil {
		l.new = s
		return l, nil
	}
	if !existed {
		s.Incarnation = u.engine.token()
	}
	l.new = s
	u.loaded[k] = l
	u.order = append(u.order, l)
	return l, nil
}
