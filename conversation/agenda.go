package conversation

import (
	"container/heap"
	"time"
)

// agenda knows when which conversation has to be looked at. It is a cache of
// what is in the store; nothing is lost with it.
type agenda struct {
	due  map[Key]time.Time
	heap entries
}

type entry struct {
	at  time.Time
	key Key
}

func newAgenda() *agenda { return &agenda{due: map[Key]time.Time{}} }

// set notes when a conversation is due; zero takes it off.
func (a *agenda) set(k Key, at time.Time) {
	if at.IsZero() {
		delete(a.due, k)
		return
	}
	if old, ok := a.due[k]; ok && old.Equal(at) {
		return
	}
	a.due[k] = at
	heap.Push(&a.heap, entry{at, k})
}

// next is when the first conversation is due; zero if none is.
func (a *agenda) next() time.Time {
	a.skip()
	if len(a.heap) == 0 {
		return time.Time{}
	}
	return a.heap[0].at
}

// past takes off, and returns, up to limit conversations that are due.
func (a *agenda) past(now time.Time, limit int) []Key {
	var keys []Key
	for a.skip(); len(a.heap) > 0 && len(keys) < limit && !a.heap[0].at.After(now); a.skip() {
		e := heap.Pop(&a.heap).(entry)
		delete(a.due, e.key)
		keys = append(keys, e.key)
	}
	return keys
}

// skip drops entries that were overwritten.
func (a *agenda) skip() {
	for len(a.heap) > 0 {
		e := a.heap[0]
		if at, ok := a.due[e.key]; ok && at.Equal(e.at) {
			return
		}
		heap.Pop(&a.heap)
	}
}

type entries []entry

func (h entries) Len() int           { return len(h) }
func (h entries) Less(i, j int) bool { return h[i].at.Before(h[j].at) }
func (h entries) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *entries) Push(x any)        { *h = append(*h, x.(entry)) }
func (h *entries) Pop() any {
	old := *h
	e := old[len(old)-1]
	*h = old[:len(old)-1]
	return e
}

// queue lists conversations in the order in which they came, each once.
type queue struct {
	keys []Key
	in   map[Key]bool
}

func (q *queue) len() int { return len(q.keys) }

func (q *queue) push(k Key) {
	if q.in[k] {
		return
	}
	if q.in == nil {
		q.in = map[Key]bool{}
	}
	q.in[k] = true
	q.keys = append(q.keys, k)
}

func (q *queue) pop() Key {
	k := q.keys[0]
	q.keys = q.keys[1:]
	delete(q.in, k)
	return k
}
