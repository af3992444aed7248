package conversation

import (
	"cmp"
	"errors"
	"reflect"
)

// loaded is a conversation as it was read and as it is to be written.
type loaded struct {
	old, new State
	existed  bool
}

// readState reads the records of a conversation.
func readState(tx Tx, k Key) (State, bool, error) {
	s := State{Key: k}
	var existed bool
	var errs [5]error
	s.Conversation, existed, errs[0] = tx.Conversation(k)
	s.Messages, errs[1] = tx.Messages(k)
	s.Timer, errs[2] = tx.Timer(k)
	s.Lease, errs[3] = tx.Lease(k)
	s.Outbox, errs[4] = tx.Outbox(k)
	return s, existed, errors.Join(errs[:]...)
}

// write puts back what has changed, record by record: so saving a conversation
// cannot touch its timer (I6), and a turn costs few bytes.
func (l *loaded) write(tx Tx) error {
	k := l.new.Key
	var errs []error
	do := func(err error) { errs = append(errs, err) }
	blank := Conversation{Incarnation: l.new.Incarnation}
	if !reflect.DeepEqual(l.old.Conversation, l.new.Conversation) && (l.existed || !reflect.DeepEqual(l.new.Conversation, blank)) {
		do(tx.PutConversation(k, l.new.Conversation))
	}
	switch {
	case l.old.Timer == l.new.Timer:
	case l.new.Timer.Set():
		do(tx.Arm(k, l.new.Timer))
	default:
		do(tx.Disarm(k))
	}
	switch {
	case l.old.Lease == l.new.Lease:
	case l.new.Lease.Held():
		do(tx.PutLease(k, l.new.Lease))
	default:
		do(tx.DeleteLease(k))
	}
	diff(l.old.Messages, l.new.Messages, func(m Message) Version { return m.Version },
		func(m Message) { do(tx.PutMessage(k, m)) }, func(v Version) { do(tx.DeleteMessage(k, v)) })
	diff(l.old.Outbox, l.new.Outbox, func(r Reply) uint64 { return r.ID },
		func(r Reply) { do(tx.PutReply(k, r)) }, func(id uint64) { do(tx.DeleteReply(k, id)) })
	return errors.Join(errs...)
}

// diff tells what has to be written for a list to become another. Both are
// sorted by id.
func diff[T any, ID cmp.Ordered](old, new []T, id func(T) ID, put func(T), drop func(ID)) {
	for _, v := range new {
		for len(old) > 0 && id(old[0]) < id(v) {
			drop(id(old[0]))
			old = old[1:]
		}
		if len(old) > 0 && id(old[0]) == id(v) {
			if !reflect.DeepEqual(old[0], v) {
				put(v)
			}
			old = old[1:]
			continue
		}
		put(v)
	}
	for _, v := range old {
		drop(id(v))
	}
}
