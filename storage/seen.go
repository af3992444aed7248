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
	key := append(make([]byte, 0, len(identity)+16), identity...)
	key = binary.BigEndian.AppendUint64(key, uint64(s.Chat))
	return binary.BigEndian.AppendUint64(key, uint64(s.ID))
}

// seenDays are the buckets of a transaction, newest first; nil if they have to
// be listed anew.
type seenDays []seenDay

type seenDay struct {
	name   []byte
	bucket *bolt.Bucket
}

func (t tx) days() seenDays {
	if *t.seen == nil {
		seen := t.bolt.Bucket(seenBucket)
		c := seen.Cursor()
		for name, _ := c.Last(); name != nil; name, _ = c.Prev() {
			if b := seen.Bucket(name); b != nil {
				*t.seen = append(*t.seen, seenDay{bytes.Clone(name), b})
			}
		}
	}
	return *t.seen
}

func (t tx) Seen(identity string, s conversation.Sighting) (v conversation.Sight, found bool, err error) {
	key := seenKey(identity, s)
	for _, d := range t.days() {
		if data := d.bucket.Get(key); data != nil {
			v, err := decodeSight(key, data)
			return v, err == nil, err
		}
	}
	return v, false, nil
}

func (t tx) PutSeen(identity string, s conversation.Sighting, v conversation.Sight) error {
	b, err := t.onDay(day(v.At))
	if err != nil {
		return err
	}
	value := append(make([]byte, 0, 8+len(v.Hash)), number(uint64(v.At.UnixNano()))...)
	return b.Put(seenKey(identity, s), append(value, v.Hash...))
}

// onDay is the bucket of a day, which is made with what is first seen on it.
func (t tx) onDay(name []byte) (*bolt.Bucket, error) {
	for _, d := range t.days() {
		if bytes.Equal(d.name, name) {
			return d.bucket, nil
		}
	}
	*t.seen = nil
	return t.bolt.Bucket(seenBucket).CreateBucketIfNotExists(name)
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
		for _, d := range t.days() {
			c := d.bucket.Cursor()
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
	n := 0
	var errs []error
	for _, d := range t.days() {
		if bytes.Compare(d.name, day(before)) < 0 {
			errs = append(errs, t.bolt.Bucket(seenBucket).DeleteBucket(d.name))
			n++
		}
	}
	*t.seen = nil
	return n, errors.Join(errs...)
}
