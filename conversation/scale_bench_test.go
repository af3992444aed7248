package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

// populate makes a file of conversations with one answered turn each, some of
// which have a message that waits for an hour.
func populate(b *testing.B, conversations, waiting int) (path string) {
	b.Helper()
	path = filepath.Join(b.TempDir(), "bench.db")
	store, err := storage.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	const chunk = 10_000 // in one transaction
	for from := 0; from < conversations; from += chunk {
		err = errors.Join(err, store.Update(func(tx conversation.Tx) error {
			var errs []error
			for i := from; i < min(from+chunk, conversations); i++ {
				errs = append(errs, person(tx, i, i < waiting))
			}
			return errors.Join(errs...)
		}))
	}
	if err := errors.Join(err, store.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

// person writes the records of the i-th conversation.
func person(tx conversation.Tx, i int, waits bool) error {
	now := time.Now()
	k := conversation.Key{Channel: "test", Bot: 1, Chat: int64(1_000_000 + i)}
	said := message(k, int64(2*i+1), "a question of the length that people write, more or less").Event.(conversation.Incoming).Message
	said.Version, said.Changed = 1, 1
	c := conversation.Conversation{Incarnation: fmt.Sprintf("%024x", i), Version: 1, Answered: 1, Generation: 1, Epoch: 1, Replies: 1, Language: "en", Turned: 60, Ratio: 1.1}
	turn := conversation.Turn{ID: 1, Messages: []conversation.Message{said}, Reply: strings.Repeat("an answer ", 20), Receipts: []int64{said.Source.ID + 1}, At: now, Tokens: 60}
	errs := []error{tx.PutTurn(k, turn), tx.PutSeen(k.Identity(), said.Source, conversation.Sight{Hash: said.Content.Hash(), At: now})}
	if waits {
		c.Version = 2
		said.Version, said.Changed = 2, 2
		timer := conversation.Timer{Due: now.Add(time.Hour), First: now, Armed: 2, Reason: conversation.Debounce, Bound: time.Hour}
		errs = append(errs, tx.PutMessage(k, said), tx.Arm(k, timer))
	}
	return errors.Join(append(errs, tx.PutConversation(k, c))...)
}

// started is a process that has taken up what is in a file.
type started struct {
	store         *storage.DB
	opened, ready time.Duration // since the start
	end           func() error
}

func start(b *testing.B, path string) started {
	b.Helper()
	begun := time.Now()
	store, err := storage.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	s := started{store: store, opened: time.Since(begun)}
	engine := conversation.New(conversation.Options{
		Config: conversation.DefaultConfig(), Identity: alice.Identity(), Store: store,
		Model: &conversationtest.Model{}, Channel: &conversationtest.Channel{}, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	s.end = func() error { cancel(); return errors.Join(<-ended, store.Close()) }
	if err := engine.Receive(ctx, conversation.Batch{Identity: alice.Identity()}); err != nil { // is taken when all is taken up
		b.Fatal(errors.Join(err, s.end()))
	}
	s.ready = time.Since(begun)
	return s
}

// memory is what is in use after a collection, and how much was ever allocated.
func memory() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC() // what a finalizer of the first has let go of
	runtime.ReadMemStats(&m)
	return m
}

// benchmarkMemory fails if a conversation takes more than most bytes or
// allocations.
func benchmarkMemory(b *testing.B, conversations, waiting int, mostBytes, mostAllocations float64) {
	path := populate(b, conversations, waiting)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	each := func(after, before uint64) float64 { return (float64(after) - float64(before)) / float64(conversations) }
	for b.Loop() {
		before := memory()
		s := start(b, path)
		after := memory()
		bytes, allocations := each(after.HeapAlloc, before.HeapAlloc), each(after.Mallocs, before.Mallocs)
		if bytes > mostBytes || allocations > mostAllocations {
			b.Errorf("a conversation takes %.1f bytes and %.1f allocations, want at most %v and %v", bytes, allocations, mostBytes, mostAllocations)
		}
		b.ReportMetric(bytes, "memory-of-each-bytes")
		b.ReportMetric(allocations, "to-take-up-each-allocations")
		b.ReportMetric(float64(after.HeapAlloc)/1e6, "heap-of-the-process-MB")
		b.ReportMetric(float64(after.Sys-after.HeapReleased)/1e6, "memory-of-the-process-MB")
		if err := s.end(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(info.Size())/float64(conversations), "file-of-each-bytes")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdle is what conversations cost in which nothing is going on. They
// are in the file only: memory does not grow with their number.
func BenchmarkIdle(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%d,000-conversations", n/1000), func(b *testing.B) { benchmarkMemory(b, n, 0, 16, 1) })
	}
}

// BenchmarkWaiting is what those cost that wait for their debounce.
func BenchmarkWaiting(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		b.Run(fmt.Sprintf("%d,000-conversations", n/1000), func(b *testing.B) { benchmarkMemory(b, n, n, 400, 100) })
	}
}

// BenchmarkStart is how long a process takes until it accepts messages, with
// 100,000 conversations, 10,000 of which have a timer.
func BenchmarkStart(b *testing.B) {
	b.Run("100,000-conversations,-10,000-timers", func(b *testing.B) {
		path := populate(b, 100_000, 10_000)
		var opened, ready time.Duration
		for b.Loop() {
			s := start(b, path)
			opened += s.opened
			ready += s.ready
			if err := s.end(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(opened.Microseconds())/float64(b.N)/1000, "to-open-the-file-ms")
		b.ReportMetric(float64(ready.Microseconds())/float64(b.N)/1000, "to-be-ready-ms")
		b.ReportMetric(0, "ns/op")
	})
}
