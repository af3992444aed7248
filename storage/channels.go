package storage

import (
	"bytes"
	"iter"

	"lastword/conversation"
)

// A file that was made before there were channels with records of their own has
// no bucket for them: it is made by the first record.

func (t tx) Record(name string) ([]byte, error) {
	b := t.bolt.Bucket(channelsBucket)
	if b == nil {
		return nil, nil
	}
	return bytes.Clone(b.Get([]byte(name))), nil
}

func (t tx) PutRecord(name string, value []byte) error {
	b, err := t.bolt.CreateBucketIfNotExists(channelsBucket)
	if err != nil {
		return err
	}
	return b.Put([]byte(name), value)
}

func (t tx) DeleteRecord(name string) error {
	b := t.bolt.Bucket(channelsBucket)
	if b == nil {
		return nil
	}
	return b.Delete([]byte(name))
}

func (t tx) Records(prefix, from string) iter.Seq2[conversation.Record, error] {
	return func(yield func(conversation.Record, error) bool) {
		b := t.bolt.Bucket(channelsBucket)
		if b == nil {
			return
		}
		c := b.Cursor()
		p := []byte(prefix)
		for key, value := c.Seek([]byte(max(prefix, from))); bytes.HasPrefix(key, p); key, value = c.Next() {
			if !yield(conversation.Record{Name: string(key), Value: bytes.Clone(value)}, nil) {
				return
			}
		}
	}
}
