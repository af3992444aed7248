package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"lastword/conversation"
)

// fuzzed is the conversation whose records are damaged, beside is one that is
// whole: 1 and 12 begin alike.
var (
	fuzzed = conversation.Key{Channel: "test", Bot: 1, Chat: 1}
	beside = conversation.Key{Channel: "test", Bot: 1, Chat: 12}
)

// fill writes one record of each kind.
func fill(tx conversation.Tx, k conversation.Key) error {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return errors.Join(
		tx.PutConversation(k, conversation.Conversation{Incarnation: "x", Version: 7, Answered: 6, Replies: 2, Language: "en"}),
		tx.PutMessage(k, conversation.Message{Version: 7, Changed: 7, Source: conversation.Source{Chat: k.Chat, ID: 9}, Content: conversation.Content{Text: "hello"}, Sent: at}),
		tx.Arm(k, conversation.Timer{Due: at, First: at, Armed: 7, Reason: conversation.Debounce, Bound: time.Second}),
		tx.PutLease(k, conversation.Lease{Owner: "me", Epoch: 4, Expiry: at, Incarnation: "x", Delivering: true, Version: 6}),
		tx.PutReply(k, conversation.Reply{ID: 2, Version: 6, Parts: []conversation.Part{{Text: "a", State: conversation.Sent, Receipt: 8}, {Text: "b", State: conversation.Pending}}}),
		tx.PutTurn(k, conversation.Turn{ID: 6, Reply: "a b", At: at, Messages: []conversation.Message{{Version: 6, Source: conversation.Source{Chat: k.Chat, ID: 7}}}}),
		tx.AddJournal(k, conversation.JournalEntry{At: at, Key: k.String(), Outcome: conversation.WasSent}),
		tx.PutRecord("test/record/"+k.String(), []byte("what a channel keeps")),
		tx.PutSeen(k.Identity(), conversation.Source{Chat: k.Chat, ID: 9}, conversation.Sight{Hash: "abc", At: at}),
	)
}

// rawKeys are where the records of fill are.
func rawKeys() [][]byte {
	day := day(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	name := []byte(fuzzed.String())
	return [][]byte{
		[]byte("schema"), name, append(under(fuzzed), number(uint64(7))...), name, name, replyKey(fuzzed, 2),
		append(under(fuzzed), number(uint64(6))...),
		append(append(number(uint64(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).UnixNano())), under(fuzzed)...), number(uint64(1))...),
		[]byte("test/record/" + fuzzed.String()),
		append(day, seenKey(fuzzed.Identity(), conversation.Source{Chat: 1, ID: 9})...),
	}
}

// FuzzRecord puts any bytes where a record is, or where none should be, and
// reads everything. Whatever they are, each read gives a value that says it is
// what was asked for, or an error with the bucket and the key that shows
// nothing of the content (I8), and what is not damaged is read as before.
func FuzzRecord(f *testing.F) {
	path := filepath.Join(f.TempDir(), "fuzz.db")
	db, err := Open(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { db.Close() })
	if err := db.Update(func(tx conversation.Tx) error { return errors.Join(fill(tx, fuzzed), fill(tx, beside)) }); err != nil {
		f.Fatal(err)
	}
	seedRecords(f, db)
	f.Fuzz(func(t *testing.T, bucket byte, key, value []byte) {
		i := int(bucket) % len(buckets)
		if len(key) == 0 {
			key = rawKeys()[i]
		}
		b, err := db.bolt.Begin(true)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Rollback()
		if plant(b, i, key, value) != nil {
			t.Skip() // bbolt takes no such key
		}
		c := reader{t: t, tx: newTx(b), bucket: string(buckets[i]), key: key, value: value}
		c.readAll(fuzzed)
		c.readAll(beside)
		c.readLists()
	})
}

// seedRecords adds what can become of a record: cut, of another kind, of
// another key, of a newer version, hostile.
func seedRecords(f *testing.F, db *DB) {
	keys := rawKeys()
	for i, name := range buckets {
		err := db.bolt.View(func(b *bolt.Tx) error {
			key, bucket := keys[i], b.Bucket(name)
			if bytes.Equal(name, seenBucket) {
				bucket, key = bucket.Bucket(key[:8]), key[8:]
			}
			whole := bytes.Clone(bucket.Get(key))
			if whole == nil {
				return fmt.Errorf("bucket %s has no key %q", name, key)
			}
			f.Add(byte(i), []byte{}, whole)
			f.Add(byte(i), []byte{}, whole[:len(whole)/2])
			f.Add(byte(i), keys[i][:len(keys[i])-1], whole)
			f.Add(byte(i), append(bytes.Clone(keys[i]), 0), whole)
			return nil
		})
		if err != nil {
			f.Fatal(err)
		}
		for _, value := range []string{
			"", "null", " null", "{}", "[]", `"text"`, "7", "\x00\xff", `{"version":8,"changed":8}`, `{"id":3}`, `{"id":-1}`, `{"state":"lost"}`,
			`{"due":"yesterday"}`, `{"due":"2026-03-01T12:00:00Z","bound":-1}`, `{"incarnation":"x","version":1e3}`, `{"movedTo":{}}`,
			`{"incarnation":"x","movedTo":{"Channel":"test","Bot":1,"Chat":1}}`, strings.Repeat("[", 20000),
		} {
			f.Add(byte(i), []byte{}, []byte(value))
		}
		for _, key := range []string{"test/1/", "test/1/x/0", "test/1/1", "test/1/+1/0", "test/1/01/0", "test/1/1/0/0", "test/1/9223372036854775808/0", "test/1/1/0\x00", "\x00"} {
			f.Add(byte(i), []byte(key), []byte("{}"))
		}
	}
}

// plant writes a raw record. In seen the key begins with the day.
func plant(b *bolt.Tx, i int, key, value []byte) error {
	bucket := b.Bucket(buckets[i])
	if bytes.Equal(buckets[i], seenBucket) {
		n := min(8, len(key))
		var err error
		if bucket, err = bucket.CreateBucketIfNotExists(key[:n]); err != nil {
			return err
		}
		key = key[n:]
	}
	return bucket.Put(key, value)
}

// reader reads in a transaction in which one record may be damaged.
type reader struct {
	t          *testing.T
	tx         conversation.Tx
	bucket     string
	key, value []byte
}

// check is what every error has to be like.
func (r reader) check(what string, k conversation.Key, err error) bool {
	r.t.Helper()
	if err == nil {
		return true
	}
	where := fmt.Sprintf("bucket %s, key %q", r.bucket, r.key)
	if r.bucket == "seen" {
		where = fmt.Sprintf("bucket seen, key %q", r.key[min(8, len(r.key)):])
	}
	if !strings.Contains(err.Error(), where) {
		r.t.Errorf("%s of %v: the error does not name %s: %v", what, k, where, err)
	}
	const text = "hello" // of the message
	if bytes.Contains(r.value, []byte(text)) && !bytes.Contains(r.key, []byte(text)) && strings.Contains(err.Error(), text) {
		r.t.Errorf("I8: the error of %s shows the record: %v", what, err)
	}
	return false
}

// want reports a value that is not what it should be.
func (r reader) want(ok bool, format string, args ...any) {
	r.t.Helper()
	if !ok {
		r.t.Errorf("with %q = %q in %s: %s", r.key, r.value, r.bucket, fmt.Sprintf(format, args...))
	}
}

func (r reader) readAll(k conversation.Key) {
	_, err := r.tx.Meta("offset")
	r.check("meta", k, err)
	_, found, err := r.tx.Conversation(k)
	r.want(found == (err == nil), "the conversation %v: %v, %v", k, found, err)
	r.check("conversation", k, err)
	_, err = r.tx.Timer(k)
	r.check("timer", k, err)
	_, err = r.tx.Lease(k)
	r.check("lease", k, err)
	messages, err := r.tx.Messages(k)
	if r.check("messages", k, err) {
		for i, m := range messages {
			r.want(i == 0 || messages[i-1].Version < m.Version, "messages %+v", messages)
			r.want(r.tx.DeleteMessage(k, m.Version) == nil, "message %d cannot be deleted", m.Version)
		}
		left, _ := r.tx.Messages(k)
		r.want(len(left) == 0, "what is read cannot be deleted: %+v", left)
	}
	turns := map[conversation.Version]bool{}
	for turn, err := range r.tx.History(k) {
		if r.check("history", k, err) {
			again, found, err := r.tx.Turn(k, turn.ID)
			r.want(found && err == nil && again.ID == turn.ID && !turns[turn.ID], "turn %d of the history is another one", turn.ID)
			turns[turn.ID] = true
		}
	}
	_, _, err = r.tx.Turn(k, 6)
	r.check("turn", k, err)
	r.readOutbox(k)
	for _, err := range r.tx.Journal(k) {
		r.check("journal", k, err)
	}
	_, _, err = r.tx.Seen(k.Identity(), conversation.Source{Chat: k.Chat, ID: 9})
	r.check("seen", k, err)
}

// readOutbox also ends what it has read: a record that stays behind would be
// delivered again after the next start (I2).
func (r reader) readOutbox(k conversation.Key) {
	replies, err := r.tx.Outbox(k)
	if !r.check("outbox", k, err) {
		return
	}
	for _, reply := range replies {
		r.want(len(reply.Parts) > 0, "reply %d has no parts", reply.ID)
		r.want(r.tx.DeleteReply(k, reply.ID) == nil, "reply %d cannot be deleted", reply.ID)
	}
	left, err := r.tx.Outbox(k)
	r.want(len(left) == 0 && err == nil, "what is read cannot be deleted: %+v, %v", left, err)
}

// readLists reads what the start reads. A key that is none does not hide the
// others.
func (r reader) readLists() {
	for name, list := range map[string]iter.Seq2[conversation.Key, error]{
		"timers": r.tx.Timers(fuzzed.Identity()), "leases": r.tx.Leases(fuzzed.Identity()), "outbox": r.tx.Outboxes(fuzzed.Identity()),
	} {
		listed := map[conversation.Key]bool{}
		for k, err := range list {
			if r.check(name, k, err) {
				r.want(!listed[k], "%s lists %v twice", name, k)
				listed[k] = true
			}
		}
		r.want(name == "outbox" || listed[fuzzed] && listed[beside], "%s lists %v", name, listed)
	}
	for _, err := range r.tx.Sightings(fuzzed.Identity()) {
		r.check("sightings", fuzzed, err)
	}
	now := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	_, err := r.tx.Prune(now, now, 100)
	r.want(err == nil, "pruning: %v", err)
	if r.bucket == "journal" && len(r.key) >= 8 && binary.BigEndian.Uint64(r.key) < uint64(now.UnixNano()) {
		for e := range r.tx.Journal(fuzzed) {
			r.want(false, "an old entry is left: %+v", e)
		}
	}
}
