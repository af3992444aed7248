package storage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"

	"lastword/conversation"
)

func replyKey(k conversation.Key, id uint64) []byte { return append(under(k), number(id)...) }

func partKey(k conversation.Key, id uint64, part int) []byte {
	return binary.BigEndian.AppendUint64(replyKey(k, id), uint64(part))
}

func (t tx) Outbox(k conversation.Key) ([]conversation.Reply, error) {
	var out []conversation.Reply
	prefix := under(k)
	c := t.bolt.Bucket(outboxBucket).Cursor()
	for key, data := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, data = c.Next() {
		if len(key) == len(prefix)+8 {
			var r conversation.Reply
			if err := decode(outboxBucket, key, data, &r); err != nil {
				return nil, err
			}
			out = append(out, r)
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("storage: bucket %s, key %q: a part without its reply", outboxBucket, key)
		}
		var p conversation.Part
		if err := decode(outboxBucket, key, data, &p); err != nil {
			return nil, err
		}
		r := &out[len(out)-1]
		r.Parts = append(r.Parts, p)
	}
	return out, nil
}

func (t tx) PutReply(k conversation.Key, r conversation.Reply) error {
	if err := t.DeleteReply(k, r.ID); err != nil { // it may have fewer parts than before
		return err
	}
	if err := put(t, outboxBucket, replyKey(k, r.ID), r); err != nil {
		return err
	}
	for i, p := range r.Parts {
		if err := put(t, outboxBucket, partKey(k, r.ID, i), p); err != nil {
			return err
		}
	}
	return nil
}

func (t tx) DeleteReply(k conversation.Key, id uint64) error {
	return drop(t, outboxBucket, replyKey(k, id))
}

func (t tx) Outboxes(identity string) iter.Seq2[conversation.Key, error] {
	return keys(t, outboxBucket, identity)
}
