package conversation

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"time"
)

// pass lets time pass: everything else moves towards the past.
func (s *scene) pass(d time.Duration) {
	if d <= 0 {
		return
	}
	back := func(ts ...*time.Time) {
		for _, t := range ts {
			if !t.IsZero() {
				*t = t.Add(-d)
			}
		}
	}
	back(&s.state.Timer.Due, &s.state.Timer.First, &s.state.Timer.Floor, &s.state.Lease.Expiry, &s.state.Lease.Started)
	for i := range s.state.Outbox {
		for j := range s.state.Outbox[i].Parts {
			back(&s.state.Outbox[i].Parts[j].NotBefore, &s.state.Outbox[i].Parts[j].Since)
		}
	}
}

// canonical makes scenes alike that the rules cannot tell apart: numbers that
// only grow become small, what is long past is just past, and what nobody reads
// any more is gone. Without it there would be no end of scenes.
func (s *scene) canonical() {
	s.forget()
	s.renumber()
	st := &s.state
	st.HighestID, st.Turned = receipt-1, 0
	st.Restarts = min(st.Restarts, checkedConfig.MaxRestarts)
	if s.left.Edits == 0 {
		s.turns = nil // nobody asks for it any more
	}
	s.timer()
	s.lease()
	st.Buttons, st.Stray = 0, time.Time{} // nothing is pressed, and no look meets another message
	if a := st.Asking; a != nil {
		st.Asking = nil
		if (&step{State: *st}).inDoubt(a.Generation) {
			st.Asking = &Notable{Message: 1}
		}
	}
	for i := range st.Outbox {
		r := &st.Outbox[i]
		r.Generation, r.Tokens = 0, 0
		r.Restarts = min(r.Restarts, checkedConfig.MaxRestarts)
		if r.Notice != nil && r.Notice.ID != "" { // the counters that it was made of are others now
			n := *r.Notice
			n.ID = fmt.Sprint("id of ", r.ID)
			if n.Press != nil {
				n.Press = &Press{Do: n.Press.Do}
			}
			r.Notice = &n
		}
		for j := range r.Parts {
			p := &r.Parts[j]
			s.part(p)
			if r.Notice != nil && p.State == Claimed && p.NotBefore.After(now0) {
				p.NotBefore = now0.Add(sayTimeout) // when it is over is an action
			}
		}
	}
}

// notBefore bounds how far in the past a time is.
func notBefore(t *time.Time, past time.Duration) {
	if limit := now0.Add(-past); !t.IsZero() && t.Before(limit) {
		*t = limit
	}
}

func (s *scene) timer() {
	t := &s.state.Timer
	if !t.Set() {
		return
	}
	notBefore(&t.Due, 0)
	notBefore(&t.First, checkedConfig.MaxWait)
	if !t.Floor.After(now0) {
		t.Floor = time.Time{}
	}
	if t.Reason != Debounce {
		t.First = now0
	}
	t.Bound = t.Due.Sub(now0) // no clock jumps here
}

// part keeps of a part that is looked for how long that has been going on, as
// long as that can make a difference.
func (s *scene) part(p *Part) {
	notBefore(&p.NotBefore, 0)
	notBefore(&p.Since, closeAfter)
	if p.State != Unknown {
		p.Since = time.Time{}
	} else if s.left.Blind == 0 {
		p.Since = now0
	}
	if p.Waited < lookTimeout {
		p.Waited = max(p.NotBefore.Sub(now0), 0) // no clock jumps here either
	}
	p.Above = 0
}

// lease keeps of the beginning of a call only whether it was before now and
// before the wait, and of a lease that needs no renewal yet only that. Of a
// delivery it is not read what its call was about.
func (s *scene) lease() {
	l := &s.state.Lease
	if !l.Held() {
		return
	}
	if full := checkedConfig.LeaseTTL; l.renewAt(full).After(now0) {
		l.Expiry = now0.Add(full)
	}
	notBefore(&l.Expiry, 0)
	switch first := s.state.Timer.First; {
	case l.Delivering:
		*l = Lease{Owner: l.Owner, Expiry: l.Expiry, Incarnation: l.Incarnation, Delivering: true}
	case s.state.Timer.Set() && first.After(l.Started):
		l.Started = first.Add(-1)
	case l.Started.Before(now0):
		l.Started = now0.Add(-1)
	}
}

// renumber replaces versions, epochs, generations and ids of replies by their
// ranks: only their order and their being equal mean anything.
func (s *scene) renumber() {
	st := &s.state
	epochs := []*uint64{&st.Epoch, &st.Lease.Epoch}
	generations := []*uint64{(*uint64)(&st.Generation), (*uint64)(&st.Lease.Generation)}
	replies := []*uint64{&st.Replies}
	for i := range st.Outbox {
		replies = append(replies, &st.Outbox[i].ID)
	}
	for i := range s.flights {
		epochs = append(epochs, &s.flights[i].work.Epoch)
		replies = append(replies, &s.flights[i].reply)
	}
	for i := range s.referee.replies {
		replies = append(replies, &s.referee.replies[i].id)
	}
	rank(epochs)
	rank(generations)
	rank(replies)
	rank(s.versions())
}

// versions lists every version that is stored anywhere.
func (s *scene) versions() (out []*uint64) {
	add := func(vs ...*Version) {
		for _, v := range vs {
			out = append(out, (*uint64)(v))
		}
	}
	st := &s.state
	add(&st.Version, &st.Answered, &st.Timer.Armed, &st.Lease.Version, &st.Lease.Revises)
	if st.Closing != nil {
		c := *st.Closing
		st.Closing = &c
		add(&c.Version)
	}
	if st.Revising != nil {
		r := *st.Revising
		st.Revising = &r
		add(&r.Turn)
	}
	for i := range st.Messages {
		add(&st.Messages[i].Version, &st.Messages[i].Changed)
	}
	for i := range st.Outbox {
		r := &st.Outbox[i]
		add(&r.Version, &r.Before, &r.Of, &r.StoppedAt)
	}
	for i := range s.turns {
		add(&s.turns[i].ID)
	}
	return out
}

func rank(numbers []*uint64) {
	var all []uint64
	for _, n := range numbers {
		if *n != 0 && !slices.Contains(all, *n) {
			all = append(all, *n)
		}
	}
	slices.Sort(all)
	for _, n := range numbers {
		if *n != 0 {
			*n = uint64(slices.Index(all, *n) + 1)
		}
	}
}

// key tells scenes apart. Which of two workers is which makes no difference, nor
// does the order of flights. It is a hash: that two of a million scenes share
// one has a chance of one in ten million.
func (c *checker) key(s *scene) uint64 {
	st := s.state
	owner := slices.Index(s.workers, st.Lease.Owner)
	st.Lease.Owner = ""
	b := encode(c.buffer[:0], reflect.ValueOf(&st).Elem())
	b = encode(b, reflect.ValueOf(&s.turns).Elem())
	b = encode(b, reflect.ValueOf(&s.left).Elem())
	b = encode(b, reflect.ValueOf(&s.referee).Elem())
	c.buffer = b
	stored := maphash.Bytes(c.seed, b)
	best := uint64(math.MaxUint64)
	for swap := range len(s.workers) {
		name := func(w int) byte {
			if w < 0 {
				return 'x' // a worker that is gone
			}
			return byte(w ^ swap)
		}
		var flights uint64
		for _, f := range s.flights {
			who := name(f.worker)
			f.worker, f.work.Owner = 0, ""
			b = encode(append(c.buffer[:0], who), reflect.ValueOf(&f).Elem())
			flights += maphash.Bytes(c.seed, b)
		}
		held := byte('-')
		if s.state.Lease.Held() {
			held = name(owner)
		}
		b = binary.BigEndian.AppendUint64(append(c.buffer[:0], held), stored)
		b = binary.BigEndian.AppendUint64(b, flights)
		best = min(best, maphash.Bytes(c.seed, b))
	}
	return best
}

var timeType = reflect.TypeFor[time.Time]()

// encode writes a value so that two that differ are written differently.
func encode(b []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint())
	case reflect.Float64:
		return binary.BigEndian.AppendUint64(b, math.Float64bits(v.Float()))
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...)
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return encode(append(b, 1), v.Elem())
	case reflect.Slice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for i := range v.Len() {
			b = encode(b, v.Index(i))
		}
		return b
	case reflect.Struct:
		if v.Type() == timeType {
			if t := reflect.NewAt(timeType, v.Addr().UnsafePointer()).Interface().(*time.Time); !t.IsZero() {
				return binary.AppendVarint(append(b, 1), int64(t.Sub(now0)))
			}
			return append(b, 0)
		}
		for i := range v.NumField() {
			b = encode(b, v.Field(i))
		}
		return b
	}
	panic(fmt.Sprintf("the checker cannot tell values of %v apart", v.Type()))
}
