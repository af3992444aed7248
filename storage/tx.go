package storage

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"time"

	bolt "go.etcd.io/bbolt"

	"lastword/conversation"
)

// tx implements [conversation.Tx].
type tx struct {
	bolt *bolt.Tx
	seen *seenDays
}

func newTx(b *bolt.Tx) tx { return tx{b, new(seenDays)} }

// number is how a key holds a number.
func number[N ~uint64](n N) []byte { return binary.BigEndian.AppendUint64(nil, uint64(n)) }

// under is the beginning of the keys of everything that belongs to a
// conversation. The 0 keeps chat 1 apart from chat 12.
func under(k conversation.Key) []byte { return append(of(k), 0) }

// of is the key of a conversation's own record, with room for what follows it
// in those of others.
func of(k conversation.Key) []byte { return k.Append(make([]byte, 0, 64)) }

// get decodes a record; false if there is none.
func get[T any](t tx, bucket, key []byte) (v T, found bool, err error) {
	data := t.bolt.Bucket(bucket).Get(key)
	if data == nil {
		return v, false, nil
	}
	err = decode(bucket, key, data, &v)
	return v, err == nil, err
}

// decode reads a record. Its error names the place and shows nothing of the
// content.
func decode(bucket, key, data []byte, v any) error {
	if err := json.Unmarshal(data, v); err != nil {
		return damaged(bucket, key, data, fmt.Sprintf("%T", err))
	}
	if bytes.TrimSpace(data)[0] == 'n' { // null, which JSON takes for any record and leaves it blank
		return damaged(bucket, key, data, "it is null")
	}
	return nil
}

func damaged(bucket, key, data []byte, why string) error {
	return fmt.Errorf("storage: bucket %s, key %q: the record is damaged (%d bytes, %s)", bucket, key, len(data), why)
}

// placed refuses a record that says it is another one than its key does. It is
// deleted by what it says, so it would stay behind, and be sent again (I2).
func placed[N ~uint64](bucket, key, prefix, data []byte, id N) error {
	if !bytes.Equal(key, append(bytes.Clone(prefix), number(id)...)) {
		return damaged(bucket, key, data, "it has the number of another one")
	}
	return nil
}

func put(t tx, bucket, key []byte, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("storage: bucket %s, key %q: %w", bucket, key, err)
	}
	return t.bolt.Bucket(bucket).Put(key, data)
}

// drop deletes the records whose keys begin with a prefix.
func drop(t tx, bucket, prefix []byte) error {
	c := t.bolt.Bucket(bucket).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Seek(prefix) {
		if err := c.Delete(); err != nil {
			return err
		}
	}
	return nil
}

// keys lists the conversations of an identity that have a record in a bucket.
// It goes on after a key that cannot be read: it is nobody else's trouble.
func keys(t tx, bucket []byte, identity string) iter.Seq2[conversation.Key, error] {
	return func(yield func(conversation.Key, error) bool) {
		var last []byte
		c := t.bolt.Bucket(bucket).Cursor()
		prefix := []byte(identity)
		for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
			name, _, _ := bytes.Cut(key, []byte{0})
			if bytes.Equal(name, last) {
				continue
			}
			last = bytes.Clone(name)
			k, err := conversation.ParseKey(string(name))
			if err != nil {
				err = fmt.Errorf("storage: bucket %s, key %q: %w", bucket, key, err)
			}
			if !yield(k, err) {
				return
			}
		}
	}
}

func (t tx) Meta(name string) ([]byte, error) {
	return bytes.Clone(t.bolt.Bucket(metaBucket).Get([]byte(name))), nil
}

func (t tx) SetMeta(name string, value []byte) error {
	return t.bolt.Bucket(metaBucket).Put([]byte(name), value)
}

func (t tx) Conversation(k conversation.Key) (conversation.Conversation, bool, error) {
	return get[conversation.Conversation](t, conversationsBucket, of(k))
}

func (t tx) PutConversation(k conversation.Key, c conversation.Conversation) error {
	return put(t, conversationsBucket, of(k), c)
}

func (t tx) Messages(k conversation.Key) (out []conversation.Message, err error) {
	prefix := under(k)
	c := t.bolt.Bucket(messagesBucket).Cursor()
	for key, data := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, data = c.Next() {
		var m conversation.Message
		if err := decode(messagesBucket, key, data, &m); err != nil {
			return nil, err
		}
		if err := placed(messagesBucket, key, prefix, data, m.Version); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

func (t tx) PutMessage(k conversation.Key, m conversation.Message) error {
	return put(t, messagesBucket, append(under(k), number(m.Version)...), m)
}

func (t tx) DeleteMessage(k conversation.Key, v conversation.Version) error {
	return t.bolt.Bucket(messagesBucket).Delete(append(under(k), number(v)...))
}

func (t tx) Timer(k conversation.Key) (conversation.Timer, error) {
	v, _, err := get[conversation.Timer](t, timersBucket, of(k))
	return v, err
}

func (t tx) Arm(k conversation.Key, v conversation.Timer) error {
	return put(t, timersBucket, of(k), v)
}

func (t tx) Disarm(k conversation.Key) error {
	return t.bolt.Bucket(timersBucket).Delete(of(k))
}

func (t tx) Timers(identity string) iter.Seq2[conversation.Key, error] {
	return keys(t, timersBucket, identity)
}

func (t tx) Lease(k conversation.Key) (conversation.Lease, error) {
	v, _, err := get[conversation.Lease](t, leasesBucket, of(k))
	return v, err
}

func (t tx) PutLease(k conversation.Key, l conversation.Lease) error {
	return put(t, leasesBucket, of(k), l)
}

func (t tx) DeleteLease(k conversation.Key) error {
	return t.bolt.Bucket(leasesBucket).Delete(of(k))
}

func (t tx) Leases(identity string) iter.Seq2[conversation.Key, error] {
	return keys(t, leasesBucket, identity)
}

func (t tx) Turn(k conversation.Key, id conversation.Version) (conversation.Turn, bool, error) {
	key := append(under(k), number(id)...)
	v, found, err := get[conversation.Turn](t, historyBucket, key)
	if found {
		err = placed(historyBucket, key, under(k), t.bolt.Bucket(historyBucket).Get(key), v.ID)
	}
	return v, found && err == nil, err
}

func (t tx) PutTurn(k conversation.Key, v conversation.Turn) error {
	return put(t, historyBucket, append(under(k), number(v.ID)...), v)
}

func (t tx) DeleteTurn(k conversation.Key, id conversation.Version) error {
	return t.bolt.Bucket(historyBucket).Delete(append(under(k), number(id)...))
}

func (t tx) ClearHistory(k conversation.Key) error { return drop(t, historyBucket, under(k)) }

func (t tx) History(k conversation.Key) iter.Seq2[conversation.Turn, error] {
	return func(yield func(conversation.Turn, error) bool) {
		prefix := under(k)
		c := t.bolt.Bucket(historyBucket).Cursor()
		for key, data := lastUnder(c, prefix); bytes.HasPrefix(key, prefix); key, data = c.Prev() {
			var v conversation.Turn
			err := decode(historyBucket, key, data, &v)
			if err == nil {
				err = placed(historyBucket, key, prefix, data, v.ID)
			}
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (t tx) OldHistory(k conversation.Key, newest int) iter.Seq2[conversation.Turn, error] {
	return func(yield func(conversation.Turn, error) bool) {
		prefix := under(k)
		c := t.bolt.Bucket(historyBucket).Cursor()
		end, _ := lastUnder(c, prefix)
		for i := 0; i < newest && bytes.HasPrefix(end, prefix); i++ {
			end, _ = c.Prev()
		}
		if !bytes.HasPrefix(end, prefix) {
			return
		}
		for key, data := c.Seek(prefix); key != nil && bytes.Compare(key, end) <= 0; key, data = c.Next() {
			var v conversation.Turn
			err := decode(historyBucket, key, data, &v)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

// lastUnder moves a cursor to the last key with a prefix that ends in 0.
func lastUnder(c *bolt.Cursor, prefix []byte) (key, data []byte) {
	after := bytes.Clone(prefix)
	after[len(after)-1] = 1
	if key, _ = c.Seek(after); key == nil {
		return c.Last()
	}
	return c.Prev()
}

func (t tx) AddJournal(k conversation.Key, e conversation.JournalEntry) error {
	n, err := t.bolt.Bucket(journalBucket).NextSequence()
	if err != nil {
		return err
	}
	key := append(number(uint64(e.At.UnixNano())), under(k)...)
	return put(t, journalBucket, append(key, number(n)...), e)
}

func (t tx) Journal(k conversation.Key) iter.Seq2[conversation.JournalEntry, error] {
	return func(yield func(conversation.JournalEntry, error) bool) {
		name := under(k)
		c := t.bolt.Bucket(journalBucket).Cursor()
		for key, data := c.Last(); key != nil; key, data = c.Prev() {
			if len(key) < 8 || !bytes.HasPrefix(key[8:], name) {
				continue
			}
			var v conversation.JournalEntry
			err := decode(journalBucket, key, data, &v)
			if !yield(v, err) || err != nil {
				return
			}
		}
	}
}

func (t tx) Prune(journal, seen time.Time, limit int) (int, error) {
	n := 0
	c := t.bolt.Bucket(journalBucket).Cursor()
	end := number(uint64(journal.UnixNano()))
	for key, _ := c.First(); key != nil && bytes.Compare(key, end) < 0 && n < limit; key, _ = c.First() {
		if err := c.Delete(); err != nil {
			return n, err
		}
		n++
	}
	m, err := t.pruneSeen(seen)
	return n + m, err
}
