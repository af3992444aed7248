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
	var head []byte // key of the newest reply
	prefix := under(k)
	c := t.bolt.Bucket(outboxBucket).Cursor()
	for key, data := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, data = c.Next() {
		if head != nil && bytes.HasPrefix(key, head) {
			r := &out[len(out)-1]
			p, err := decodePart(key, partKey(k, r.ID, len(r.Parts)), data)
			if err != nil {
				return nil, err
			}
			r.Parts = append(r.Parts, p)
			continue
		}
		if len(key) != len(prefix)+8 {
			return nil, damaged(outboxBucket, key, data, "it is a part without its reply")
		}
		if err := complete(out, head); err != nil {
			return nil, err
		}
		var r conversation.Reply
		if err := decode(outboxBucket, key, data, &r); err != nil {
			return nil, err
		}
		if err := placed(outboxBucket, key, prefix, data, r.ID); err != nil {
			return nil, err
		}
		out, head = append(out, r), bytes.Clone(key)
	}
	return out, complete(out, head)
}

// decodePart reads the part that comes next, which is at a key. A missing one
// would be lost without a word (I1), and one in an unheard-of state sent, though
// it may be visible (I2).
func decodePart(key, want, data []byte) (p conversation.Part, err error) {
	if !bytes.Equal(key, want) {
		return p, damaged(outboxBucket, key, data, "the part before it is missing")
	}
	if err := decode(outboxBucket, key, data, &p); err != nil {
		return p, err
	}
	switch p.State {
	case conversation.Pending, conversation.Claimed, conversation.Sent, conversation.Unknown, conversation.Closed:
		return p, nil
	}
	return p, damaged(outboxBucket, key, data, "its state is none")
}

// complete refuses a reply that has lost all of its parts.
func complete(out []conversation.Reply, head []byte) error {
	if len(out) > 0 && len(out[len(out)-1].Parts) == 0 {
		return fmt.Errorf("storage: bucket %s, key %q: the reply has lost its parts", outboxBucket, head)
	}
	return nil
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
