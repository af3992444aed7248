package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"iter"
	"time"

	bolt "go.etcd.io/bbolt"

	"lastword/conversation"
)

// What was seen is kept in a bucket for each day, so that forgetting a day is
// dropping its bucket, however much happened on it.

func day(t time.Time) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(t.Unix()/(24*60*60)))
}

func seenKey(identity string, s conversation.Sighting) []byte {
	key := append([]byte(identity), number(uint64(s.Chat))...)
	return append(key, number(uint64(s.ID))...)
}

// days walks the buckets from the newest.
func (t tx) days() iter.Seq2[[]byte, *bolt.Bucket] {
	return func(yield func([]byte, *bolt.Bucket) bool) {
		seen := t.bolt.Bucket(seenBucket)
		c := seen.Cursor()
		for name, _ := c.Last(); name != nil; name, _ = c.Prev() {
			if b := seen.Bucket(name); b != nil && !yield(name, b) {
				return
			}
		}
	}
}

func (t tx) Seen(identity string, s conversation.Sighting) (v conversation.Sight, found bool, err error) {
	key := seenKey(identity, s)
	for _, b := range t.days() {
		if data := b.Get(key); data != nil {
			v, err := decodeSight(key, data)
			return v, err == nil, err
		}
	}
	return v, false, nil
}

func (t tx) PutSeen(identity string, s conversation.Sighting, v conversation.Sight) error {
	b, err := t.bolt.Bucket(seenBucket).CreateBucketIfNotExists(day(v.At))
	if err != nil {
		return err
	}
	return b.Put(seenKey(identity, s), append(number(uint64(v.At.UnixNano())), v.Hash...))
}

// decodeSight reads a time in nanoseconds and a hash. There is one for every
// message, so it is no JSON.
func decodeSight(key, data []byte) (v conversation.Sight, err error) {
	if len(data) < 8 {
		return v, damaged(seenBucket, key, data, "too short")
	}
	v.At = time.Unix(0, int64(binary.BigEndian.Uint64(data)))
	v.Hash = string(data[8:])
	return v, nil
}

func (t tx) Sightings(identity string) iter.Seq2[conversation.Source, error] {
	return func(yield func(conversation.Source, error) bool) {
		prefix := []byte(identity)
		for _, b := range t.days() {
			c := b.Cursor()
			for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
				if len(key) != len(prefix)+16 {
					continue // of an identity that begins alike
				}
				n := key[len(prefix):]
				s := conversation.Source{Chat: int64(binary.BigEndian.Uint64(n)), ID: int64(binary.BigEndian.Uint64(n[8:]))}
				if s.Chat != 0 && !yield(s, nil) {
					return
				}
			}
		}
	}
}

// pruneSeen drops the days that ended before a time.
func (t tx) pruneSeen(before time.Time) (int, error) {
	var old [][]byte
	for name := range t.days() {
		if bytes.Compare(name, day(before)) < 0 {
			old = append(old, bytes.Clone(name))
		}
	}
	var errs []error
	for _, name := range old {
		errs = append(errs, t.bolt.Bucket(seenBucket).DeleteBucket(name))
	}
	return len(old), errors.Join(errs...)
}
