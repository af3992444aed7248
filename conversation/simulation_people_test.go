package conversation_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lastword/conversation"
)

// room is one chat of a simulation, and what its people have said.
type room struct {
	name    string
	key     conversation.Key // where it is now
	group   bool
	said    []*saying
	spoke   time.Time // the last time
	cleared time.Time // when it was last reset, or stopped
}

// saying is one message of a person.
type saying struct {
	mark      string // #0001, with its edition behind it: #0001e2
	source    conversation.Key
	id        int64
	accepted  time.Time
	changed   time.Time // accepted, or its newest edition was
	addressed bool
	gone      bool // taken back
}

func (m *saying) base() string { return m.mark[:5] }

func (s *simulation) makeRooms() {
	for i := range 6 {
		k := conversation.Key{Channel: "test", Bot: 1, Chat: int64(101 + i)}
		s.rooms = append(s.rooms, &room{name: fmt.Sprint("room ", i), key: k, group: i >= 4})
	}
}

// makePlan writes down everything that happens from outside, before it begins.
func (s *simulation) makePlan() {
	for _, r := range s.rooms {
		s.planRoom(r)
	}
	rng := s.chance("deaths")
	for at := time.Duration(0); at < simTalk; {
		at += 12*time.Second + time.Duration(rng.Int64N(int64(30*time.Second)))
		orderly, down := rng.IntN(3) == 0, time.Duration(rng.Int64N(int64(3*time.Second)))
		s.plan = append(s.plan, planned{at, func() {
			if orderly {
				s.stop()
			} else {
				s.kill()
			}
			time.Sleep(down)
			s.start()
		}})
	}
	moves := simTalk/3 + time.Duration(rng.Int64N(int64(simTalk/3)))
	s.plan = append(s.plan, planned{moves, func() { s.migrate(s.rooms[5]) }})
	for at := time.Second; at < simTalk+30*time.Second; at += time.Second {
		s.plan = append(s.plan, planned{at, s.check})
	}
}

// planRoom is what the people in a room do until it is over.
func (s *simulation) planRoom(r *room) {
	rng := s.chance(r.name)
	between := func(from, to time.Duration) time.Duration { return from + time.Duration(rng.Int64N(int64(to-from))) }
	at := between(0, 5*time.Second)
	plan := func(do func()) { s.plan = append(s.plan, planned{at, do}) }
	late := func(do func()) { // kinds of updates overtake each other
		s.plan = append(s.plan, planned{at + between(0, 300*time.Millisecond), do})
	}
	for at < simTalk {
		for range 1 + rng.IntN(5) {
			addressed := !r.group || rng.IntN(4) > 0
			plan(func() { s.speak(r, addressed) })
			at += between(30*time.Millisecond, 700*time.Millisecond)
		}
		if rng.IntN(3) == 0 {
			at += between(300*time.Millisecond, 3*time.Second)
			plan(func() { s.speak(r, true) })
		}
		back, label := rng.IntN(4), []string{"↻", "↻", "◀", "▶", "show", "stop"}[rng.IntN(6)]
		switch n := rng.IntN(100); {
		case n < 15:
			plan(func() { s.edit(r, 0, true) })
		case n < 20:
			plan(func() { s.edit(r, back, true) })
		case n < 25:
			plan(func() { s.edit(r, back, false) })
		case n < 33:
			plan(func() { s.redeliver(r, back) })
		case n < 36:
			plan(func() { s.takeBack(r, back) })
		case n < 39:
			late(func() { s.clear(r, conversation.Reset{}) })
		case n < 43:
			late(func() { s.clear(r, conversation.Stop{}) })
		case n < 45:
			late(func() { s.command(r.key, conversation.AskStatus{}) })
		case n < 70:
			at += between(0, 3*time.Second)
			late(func() {
				if label != "show" || s.misses(r) {
					s.press(r.key, label)
				}
			})
		}
		at += between(200*time.Millisecond, 8*time.Second)
	}
}

// speak says something new.
func (s *simulation) speak(r *room, addressed bool) {
	s.marks++
	m := &saying{mark: fmt.Sprintf("#%04d", s.marks), source: r.key, addressed: addressed}
	m.id = s.channel.Next(r.key, m.mark)
	s.mu.Lock()
	r.said = append(r.said, m)
	s.spoken[m.base()] = r
	s.mu.Unlock()
	s.deliver(s.arrival(r, m))
	s.mu.Lock()
	defer s.mu.Unlock()
	m.accepted, m.changed, r.spoke = time.Now(), time.Now(), time.Now()
}

func (s *simulation) arrival(r *room, m *saying) conversation.Arrival {
	a := message(m.source, m.id, m.mark)
	a.Key = r.key
	in := a.Event.(conversation.Incoming)
	in.Group, in.Addressed = r.group, m.addressed
	if r.group { // several people; who is not addressed goes on with nothing of theirs
		in.Message.Author.ID = m.id
	}
	a.Event = in
	return a
}

// pick is the message that was said so long ago; nil if there is none.
func (r *room) pick(back int) *saying {
	if back >= len(r.said) {
		return nil
	}
	return r.said[len(r.said)-1-back]
}

// edit changes a message, or only announces it.
func (s *simulation) edit(r *room, back int, real bool) {
	m := r.pick(back)
	if m == nil || m.gone {
		return
	}
	if real {
		s.marks++
		s.mu.Lock()
		m.mark = fmt.Sprintf("%se%d", m.base(), s.marks)
		s.mu.Unlock()
	}
	a := s.arrival(r, m)
	a.Event = conversation.Edited{Incoming: a.Event.(conversation.Incoming)}
	s.deliver(a)
	s.mu.Lock()
	defer s.mu.Unlock()
	if real {
		m.changed, r.spoke = time.Now(), time.Now()
	}
}

// redeliver brings a message again as it was first said.
func (s *simulation) redeliver(r *room, back int) {
	if m := r.pick(back); m != nil {
		first := *m
		first.mark = m.base()
		s.deliver(s.arrival(r, &first))
	}
}

func (s *simulation) takeBack(r *room, back int) {
	m := r.pick(back)
	if m == nil {
		return
	}
	s.mu.Lock()
	m.gone = true
	s.mu.Unlock()
	s.deliver(conversation.Arrival{Key: r.key, Event: conversation.Deleted{Source: conversation.Source{Chat: m.source.Chat, ID: m.id}}})
}

// clear gives a command after which what waits may never be answered.
func (s *simulation) clear(r *room, e conversation.Event) {
	s.mu.Lock()
	r.cleared = time.Now()
	s.mu.Unlock()
	s.command(r.key, e)
	s.mu.Lock()
	defer s.mu.Unlock()
	r.cleared = time.Now()
}

// misses reports whether the answer that a room is asked about is not there:
// nobody who sees it would ask for it.
func (s *simulation) misses(r *room) (missing bool) {
	replies, _ := s.visible(r)
	all := strings.Join(replies, " ")
	for _, m := range s.channel.Shown() {
		for _, b := range m.Buttons {
			if s.roomOf(m.Key) != r || b.Do != conversation.ShowAnswer {
				continue
			}
			_ = s.store.View(func(tx conversation.Tx) error {
				turn, _, err := tx.Turn(r.key, b.Turn)
				missing = len(turn.Messages) > 0 && !slices.ContainsFunc(turn.Messages, func(m conversation.Message) bool {
					return strings.Contains(all, m.Content.Text[:5])
				})
				return err
			})
		}
	}
	return missing
}

func (s *simulation) migrate(r *room) {
	to := r.key
	to.Chat += 800
	s.deliver(conversation.Arrival{Key: r.key, Event: conversation.Migrated{To: to}})
	s.mu.Lock()
	defer s.mu.Unlock()
	r.key = to
}
