package conversation

import "time"

// fresh reports whether an arrival was not seen before, and notes it: a message
// by chat and id; an edit without a change by its content; an edit that comes
// again, and whatever else is no message, by the number and the content of the
// update, since numbers start anew after a quiet week.
func (u *unit) fresh(identity string, a Arrival) (bool, error) {
	if a.Source != (Source{}) {
		u.sight(a.Source)
	}
	hash, edit := "", false
	switch e := a.Event.(type) {
	case Incoming:
		hash = e.Message.Content.Hash()
	case Edited:
		hash, edit = e.Message.Content.Hash(), true
	case Deleted, Migrated:
		return true, nil // have no effect when they come again
	}
	if a.Source != (Source{}) && !edit {
		return u.first(identity, a.Source, hash)
	}
	if a.Update != 0 {
		seen, err := u.see(identity, Sighting{ID: a.Update}, a.Digest)
		if seen || err != nil {
			return false, err
		}
	}
	if !edit {
		return true, nil
	}
	seen, err := u.see(identity, a.Source, hash)
	return !seen, err
}

// first notes a message and reports whether it was unknown, with any content.
func (u *unit) first(identity string, s Sighting, hash string) (bool, error) {
	if _, known := u.known(identity, s); known {
		return false, nil
	}
	return true, u.tx.PutSeen(identity, s, Sight{Hash: hash, At: u.now})
}

// see notes a sighting and reports whether it was known with this content.
func (u *unit) see(identity string, s Sighting, hash string) (bool, error) {
	if old, known := u.known(identity, s); known && old.Hash == hash {
		return true, nil
	}
	return false, u.tx.PutSeen(identity, s, Sight{Hash: hash, At: u.now})
}

// known reads a sighting. One that cannot be read counts as none: to take a
// message twice is better than to refuse the batch for ever.
func (u *unit) known(identity string, s Sighting) (Sight, bool) {
	v, known, err := u.tx.Seen(identity, s)
	if err != nil {
		u.engine.log.Error("a record cannot be read; it is written anew", "err", err)
	}
	return v, known && err == nil
}

// proof is a message of the bot with the time at which its send began: whatever
// was shown well before that has a lower id.
type proof struct {
	id    int64
	begun time.Time
}

// sight raises the highest message id known in a sequence.
func (u *unit) sight(s Source) {
	seq := u.engine.channel.Sequence(s.Chat)
	u.highest[seq] = max(u.top(seq), s.ID)
}

func (u *unit) top(seq int64) int64 { return max(u.highest[seq], u.engine.highest[seq]) }
