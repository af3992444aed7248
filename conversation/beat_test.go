package conversation_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

func TestBeatCostsNoTransaction(t *testing.T) {
	inWorld(t, func(w *world) {
		before := w.commits.Load()
		for range 10 {
			if err := w.engine.Beat(w.t.Context()); err != nil {
				t.Fatal(err)
			}
			w.after(time.Second)
		}
		if n := w.commits.Load() - before; n > 0 {
			t.Errorf("%d transactions", n)
		}
		w.say(alice, "#1")
		w.after(800 * time.Millisecond) // the model is asked
		if err := w.engine.Beat(w.t.Context()); err != nil {
			t.Errorf("in mid-answer: %v", err)
		}
		w.after(3 * time.Second)
		w.wantShown(alice, "re: #1")
	})
}

// The loop goes on turning while the disk is full: a restart would not help.
func TestBeatOnAFullDisk(t *testing.T) {
	inWorld(t, func(w *world) {
		full := conversation.ErrFull
		w.fail.Store(&full)
		id := w.channel.Next(alice, "#1")
		b := conversation.Batch{Identity: alice.Identity(), Offset: 1, Arrivals: []conversation.Arrival{message(alice, id, "#1")}}
		if err := w.engine.Receive(w.t.Context(), b); !errors.Is(err, conversation.ErrFull) {
			t.Fatalf("got %v", err)
		}
		if err := w.engine.Beat(w.t.Context()); err != nil {
			t.Error(err)
		}
		w.fail.Store(nil)
	})
}

// A stuckStore is one on a disk that stops answering.
type stuckStore struct {
	conversation.Store
	disk chan struct{} // answers as long as something can be received
}

func (s stuckStore) Update(fn func(conversation.Tx) error) error {
	<-s.disk
	return s.Store.Update(fn)
}

func TestNoBeatWhileACommitHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open(filepath.Join(t.TempDir(), "test.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		stuck := stuckStore{store, make(chan struct{})}
		engine := conversation.New(conversation.Options{
			Config: conversation.DefaultConfig(), Identity: alice.Identity(), Store: stuck,
			Model: &conversationtest.Model{}, Channel: &conversationtest.Channel{}, Log: slog.New(slog.DiscardHandler),
		})
		beat := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			return engine.Beat(ctx)
		}
		if err := beat(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before Run: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- engine.Run(ctx) }()
		if err := beat(); err != nil {
			t.Errorf("an idle engine: %v", err)
		}
		received := make(chan error, 1)
		go func() {
			received <- engine.Receive(t.Context(), conversation.Batch{Identity: alice.Identity(), Offset: 1})
		}()
		synctest.Wait()
		if err := beat(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("while a commit hangs: %v", err)
		}
		close(stuck.disk)
		if err := beat(); err != nil {
			t.Errorf("after it: %v", err)
		}
		if err := <-received; err != nil {
			t.Error(err)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := beat(); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("of an engine that has ended: %v", err)
		}
	})
}
