package conversation

import (
	"fmt"
	"slices"
)

// referee knows what can be known from outside: what people have said, and what
// they see. Sets of messages are bits, the first message the lowest.
type referee struct {
	said     int   // messages so far
	edited   uint8 // the only edit of each
	dropped  uint8 // by a reset
	told     uint8 // a notice says why they are not answered
	answered uint8 // by a reply that is visible to its end
	begun    uint8 // by one that is done with, and may be visible in part
	replies  []shown
}

// snapshot is what the model was asked to answer.
type snapshot struct {
	covers, edited uint8
	protected      bool // newer input does not matter
	finishes       bool // nor does it here, unless it is an edit
	revision       bool
	void           bool // a reset came after it
}

// shown is a reply or a notice as it can be seen.
type shown struct {
	id uint64
	snapshot
	notice bool
	parts  int
	seen   uint8 // its parts that are visible, as bits
}

func (r *referee) say() { r.said++ }

// reset excuses what was said before it, and makes answers to that void.
func (s *scene) reset() {
	s.referee.dropped = 1<<s.referee.said - 1
	for i := range s.flights {
		s.flights[i].void = s.flights[i].kind == calling
	}
	for i := range s.referee.replies {
		s.referee.replies[i].void = true
	}
}

// snapshot is what a call was given.
func (r *referee) snapshot(g Generate) snapshot {
	s := snapshot{protected: g.Work.Protected, revision: g.Work.Revises != 0}
	for _, m := range g.Turn {
		bit := uint8(1) << (m.Source.ID - 1)
		s.covers |= bit
		if m.Edited {
			s.edited |= bit
		}
	}
	return s
}

// committed takes note of the replies that a step has put into the outbox. What
// they are about is what the flight was about that came back.
func (r *referee) committed(before, after State, from *flight) {
	for _, o := range after.Outbox {
		if o.ID <= before.Replies {
			continue
		}
		s := shown{id: o.ID, notice: o.Notice != nil, parts: len(o.Parts)}
		if from != nil {
			s.snapshot = from.snapshot
			if about := r.find(from.reply); from.kind != calling && about != nil {
				s.snapshot = about.snapshot
			}
		}
		r.replies = append(r.replies, s)
	}
}

func (r *referee) find(id uint64) *shown {
	for i := range r.replies {
		if r.replies[i].id == id {
			return &r.replies[i]
		}
	}
	return nil
}

func (r *referee) visible(id uint64, index int) bool {
	s := r.find(id)
	return s != nil && s.seen&(1<<index) != 0
}

// all are the messages so far.
func (r *referee) all() uint8 { return 1<<r.said - 1 }

// elsewhere are the messages that another reply answers visibly.
func (r *referee) elsewhere(id uint64) uint8 {
	out := r.answered | r.begun
	for _, s := range r.replies {
		if s.id != id && s.seen != 0 {
			out |= s.covers
		}
	}
	return out
}

// claimed is I3: the first part of an answer is claimed only if it answers all
// there is, as it is now. One that may be older says what it answers. A notice that
// was claimed counts as seen: one of unknown outcome is not worth the doubt.
func (r *referee) claimed(f Send) *violation {
	s := r.find(f.Reply)
	if s == nil {
		return &violation{"I3", fmt.Sprintf("reply %d is sent, but was never committed", f.Reply)}
	}
	if f.Notice != nil {
		if f.Notice.Code == Failed || f.Notice.Code == Unanswerable || f.Notice.Code == Doubtful || f.Notice.Code == Undelivered {
			r.told |= s.covers
		}
		return nil
	}
	if f.Index > 0 || f.Part.Replaces != 0 || s.revision {
		return nil
	}
	open := r.all() &^ r.dropped &^ r.elsewhere(s.id)
	switch {
	case s.void:
		return &violation{"I3", fmt.Sprintf("reply %d is sent after the reset of what it answers", s.id)}
	case s.protected:
	case open&^s.covers != 0 && !s.finishes:
		return &violation{"I3", fmt.Sprintf("reply %d answers %s only, and %s is stored", s.id, names(s.covers), names(open&^s.covers))}
	case r.edited&s.covers != s.edited&s.covers:
		return &violation{"I3", fmt.Sprintf("reply %d answers %s as it was before its edit", s.id, names(r.edited&s.covers))}
	}
	return nil
}

// land is I2: a part becomes visible once, and no message is answered by two
// replies.
func (r *referee) land(f flight) *violation {
	s := r.find(f.reply)
	if s == nil {
		return &violation{"I2", fmt.Sprintf("a part of reply %d becomes visible, which was never committed", f.reply)}
	}
	if s.seen&(1<<f.index) != 0 {
		return &violation{"I2", fmt.Sprintf("part %d of reply %d is visible twice", f.index, s.id)}
	}
	if twice := s.covers & r.elsewhere(s.id); twice != 0 && !s.revision {
		return &violation{"I2", fmt.Sprintf("%s is answered twice, now by reply %d", names(twice), s.id)}
	}
	s.seen |= 1 << f.index
	return nil
}

// forget folds replies into what they have answered, when nothing of them is
// stored or in flight any more.
func (s *scene) forget() {
	r := &s.referee
	var stored uint8
	for _, m := range s.state.Messages {
		stored |= 1 << (m.Source.ID - 1)
	}
	r.replies = slices.DeleteFunc(r.replies, func(o shown) bool {
		if slices.ContainsFunc(s.state.Outbox, func(e Reply) bool { return e.ID == o.id }) ||
			slices.ContainsFunc(s.flights, func(f flight) bool { return f.kind == sending && f.reply == o.id }) {
			return false
		}
		switch {
		case o.notice || o.revision || o.seen == 0 && o.covers&stored != 0: // withdrawn
		case o.seen == 1<<o.parts-1:
			r.answered |= o.covers
		default:
			r.begun |= o.covers
		}
		return true
	})
	// What is settled and can come up no more is all the same.
	over := (r.dropped | r.answered | r.told) &^ stored
	for _, f := range s.flights {
		over &^= f.covers
	}
	for _, o := range r.replies {
		if !o.notice {
			over &^= o.covers
		}
	}
	r.answered |= over
	for _, set := range []*uint8{&r.dropped, &r.told, &r.begun, &r.edited} {
		*set &^= over
	}
}

// lost is I1, where nothing can happen any more unless somebody says something:
// the messages that are neither answered nor told about.
func (r *referee) lost() *violation {
	if open := r.all() &^ r.dropped &^ r.answered &^ r.told; open != 0 {
		return &violation{"I1", names(open) + " is never answered, and no notice says why"}
	}
	return nil
}

func names(set uint8) (out string) {
	for n := range 8 {
		if set&(1<<n) != 0 {
			out += fmt.Sprintf("m%d ", n+1)
		}
	}
	if out == "" {
		return "nothing"
	}
	return out[:len(out)-1]
}
