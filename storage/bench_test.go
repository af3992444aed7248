package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

// BenchmarkAcceptance stores batches of 100 updates durably, and in turn with
// it commits the same bytes to a bare bbolt file. It compares medians: a disk that
// others use has slow moments.
func BenchmarkAcceptance(b *testing.B) {
	const batch = 100
	config := conversation.DefaultConfig()
	config.Debounce, config.MaxWait = time.Hour, 2*time.Hour
	store, err := storage.Open(filepath.Join(b.TempDir(), "ours.db"))
	if err != nil {
		b.Fatal(err)
	}
	engine := conversation.New(conversation.Options{
		Config: config, Identity: "test/1/", Store: store, Model: &conversationtest.Model{},
		Channel: &conversationtest.Channel{}, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	defer func() {
		cancel()
		if err := errors.Join(<-ended, store.Close()); err != nil {
			b.Error(err)
		}
	}()
	bare, err := bolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType})
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var ours, theirs []time.Duration
	id := int64(0)
	for b.Loop() {
		in := conversation.Batch{Identity: "test/1/", Offset: id}
		var raw [][]byte
		for range batch {
			id++
			k := conversation.Key{Channel: "test", Bot: 1, Chat: 1000 + id/5} // five messages a person
			src := conversation.Source{Chat: k.Chat, ID: id}
			a := conversation.Arrival{Update: id, Digest: fmt.Sprint(id), Key: k, Source: src, Event: conversation.Incoming{
				Addressed: true, Message: conversation.Message{
					Source: src, Author: conversation.Author{ID: k.Chat, Name: "Ann"}, Sent: time.Now(),
					Content: conversation.Content{Text: "a message of the length that people write, more or less"},
				},
			}}
			data, err := json.Marshal(a)
			if err != nil {
				b.Fatal(err)
			}
			in.Arrivals, raw = append(in.Arrivals, a), append(raw, data)
		}
		start := time.Now()
		if err := engine.Receive(context.Background(), in); err != nil {
			b.Fatal(err)
		}
		ours = append(ours, time.Since(start))
		start = time.Now()
		err := bare.Update(func(tx *bolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("raw"))
			for i, data := range raw {
				if err == nil {
					err = bucket.Put(fmt.Appendf(nil, "%020d", id+int64(i)), data)
				}
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
		theirs = append(theirs, time.Since(start))
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	batched, single := ours[len(ours)/2], theirs[len(theirs)/2]
	b.ReportMetric(batch/batched.Seconds(), "accepted-updates/s")
	b.ReportMetric(float64(batched.Microseconds()), "batch-of-100-updates-µs")
	b.ReportMetric(float64(single.Microseconds()), "bare-commit-of-the-same-bytes-µs")
	b.ReportMetric(float64(batched)/float64(single), "batch-over-bare-commit-times")
	b.ReportMetric(0, "ns/op") // of both together
}
