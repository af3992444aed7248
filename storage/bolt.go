// Package storage keeps conversations in one bbolt file. It knows records and
// transactions, not rules; what they have to keep to is said by
// [conversation.Store].
package storage

import (
	"errors"
	"fmt"
	"syscall"

	bolt "go.etcd.io/bbolt"

	"lastword/conversation"
)

// DB is a database file. Its lock proves that no other process works on it.
//
// Records are JSON, but for seen: a time and a hash. Numbers in keys are 8 bytes, big endian, so that they sort.
// Conversations, messages, timers, leases, outbox and history begin their keys
// with [conversation.Key.String].
//
//	bucket         key                      value
//	meta           name                     schema version; update offset and access list of each bot
//	conversations  key                      conversation.Conversation
//	messages       key · 0 · version        conversation.Message
//	timers         key                      conversation.Timer, written by Arm and Disarm only
//	leases         key                      conversation.Lease
//	outbox         key · 0 · reply          conversation.Reply without its parts
//	outbox         key · 0 · reply · part   conversation.Part
//	history        key · 0 · turn           conversation.Turn
//	journal        time · key · 0 · number  conversation.JournalEntry
//	channels       name                     what a channel keeps for itself
//	seen           day                      a bucket for each day: identity · chat · message → time · hash
type DB struct{ bolt *bolt.DB }

var (
	metaBucket          = []byte("meta")
	conversationsBucket = []byte("conversations")
	messagesBucket      = []byte("messages")
	timersBucket        = []byte("timers")
	leasesBucket        = []byte("leases")
	outboxBucket        = []byte("outbox")
	historyBucket       = []byte("history")
	journalBucket       = []byte("journal")
	channelsBucket      = []byte("channels")
	seenBucket          = []byte("seen")

	buckets = [][]byte{
		metaBucket, conversationsBucket, messagesBucket, timersBucket, leasesBucket,
		outboxBucket, historyBucket, journalBucket, channelsBucket, seenBucket,
	}
)

// Close lets go of the file. It waits for transactions to end.
func (db *DB) Close() error { return db.bolt.Close() }

// Update implements [conversation.Store]. An error of fn is returned as it is;
// one of the commit is [conversation.ErrFull] or [conversation.ErrBroken].
func (db *DB) Update(fn func(conversation.Tx) error) error {
	b, err := db.bolt.Begin(true)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	committed := false
	defer func() {
		if !committed {
			_ = b.Rollback() // also on a panic of fn, or the writer lock is never released
		}
	}()
	if err := fn(newTx(b)); err != nil {
		return err
	}
	committed = true // a failed commit rolls back by itself
	err = b.Commit()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("storage: %w: %w", conversation.ErrFull, err)
	}
	return fmt.Errorf("storage: %w: %w", conversation.ErrBroken, err)
}

// View implements [conversation.Store].
func (db *DB) View(fn func(conversation.Tx) error) error {
	return db.bolt.View(func(b *bolt.Tx) error { return fn(newTx(b)) })
}

// Check runs bbolt's own consistency check over the whole file.
func (db *DB) Check() error {
	return db.bolt.View(func(b *bolt.Tx) error {
		var all error
		for err := range b.Check() { // has to be read to its end
			all = errors.Join(all, err)
		}
		return all
	})
}
