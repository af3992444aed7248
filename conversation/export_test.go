package conversation

import (
	"maps"
	"time"
)

// Happened is an event of a conversation, Begun an effect of it.
type (
	Happened struct {
		Key   Key
		Event Event
	}
	Begun struct {
		Key    Key
		Effect Effect
	}
)

// Apply is the loop by hand: it applies a batch and events in one transaction,
// at any time, and returns the effects instead of starting them. So a hundred
// days of turns take a minute.
func (e *Engine) Apply(now time.Time, b Batch, events ...Happened) ([]Begun, error) {
	u := e.newUnit()
	u.now = now
	requests := []request{{batch: &b}}
	for _, h := range events {
		requests = append(requests, request{key: h.Key, event: h.Event})
	}
	if err := e.store.Update(func(tx Tx) error { return u.apply(tx, requests) }); err != nil {
		return nil, err
	}
	maps.Copy(e.highest, u.highest)
	if !u.pruned.IsZero() {
		e.pruned = u.pruned
	}
	var begun []Begun
	for _, s := range u.effects {
		begun = append(begun, Begun{s.key, s.effect})
	}
	return begun, nil
}
