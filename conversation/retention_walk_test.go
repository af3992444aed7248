package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

// hoarder is a store whose engine finds nothing that is old.
type hoarder struct{ conversation.Store }

func (h hoarder) Update(fn func(conversation.Tx) error) error {
	return h.Store.Update(func(tx conversation.Tx) error { return fn(hoarderTx{tx}) })
}

type hoarderTx struct{ conversation.Tx }

func (hoarderTx) OldHistory(conversation.Key, int) iter.Seq2[conversation.Turn, error] {
	return func(func(conversation.Turn, error) bool) {}
}

// talk is one long conversation with everything in it that moves the edge of
// the prompt. The same seed talks the same.
type talk struct {
	seed    uint64
	rand    *rand.Rand
	channel *conversationtest.Channel
	engine  *conversation.Engine
	said    []int64 // ids of its messages
	update  int64
}

// longTalk returns the prompts of a talk and the history in the end, newest
// first.
func longTalk(t *testing.T, seed uint64, context, turns int, wrap func(conversation.Store) conversation.Store) (prompts [][]conversation.PromptMessage, history []conversation.Turn) {
	synctest.Test(t, func(t *testing.T) {
		store, err := storage.Open(filepath.Join(t.TempDir(), "test.db"))
		if err != nil {
			t.Fatal(err)
		}
		w := &talk{seed: seed, rand: rand.New(rand.NewPCG(seed, 0)), channel: &conversationtest.Channel{}}
		model := &conversationtest.Model{Answer: w.answer}
		w.channel.Fault = w.fault
		w.engine = conversation.New(conversation.Options{
			Config: conversation.DefaultConfig(), Limits: conversation.Limits{ContextTokens: context}, Identity: alice.Identity(),
			Store: wrap(store), Model: model, Channel: w.channel, Log: slog.New(slog.DiscardHandler),
			Token: func() string { return "token" },
		})
		ended := w.run(t)
		for range turns {
			w.turn(t)
		}
		ended()
		for _, c := range model.Calls() {
			prompts = append(prompts, c.Prompt)
		}
		err = store.View(func(tx conversation.Tx) error {
			for turn, err := range tx.History(alice) {
				if err != nil {
					return err
				}
				history = append(history, turn)
			}
			return nil
		})
		if err := errors.Join(err, store.Check(), store.Close()); err != nil {
			t.Fatal(err)
		}
	})
	return prompts, history
}

func (w *talk) run(t *testing.T) (end func()) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- w.engine.Run(ctx) }()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
}

// chance is the n-th call's own, since calls have goroutines of their own.
func (w *talk) chance(n int) *rand.Rand { return rand.New(rand.NewPCG(w.seed, uint64(n))) }

// answer reports fewer tokens than estimated for a while, then more, and so on:
// the edge of the prompt moves as far as it can.
func (w *talk) answer(_ context.Context, n int, _ []conversation.PromptMessage) (conversation.Completion, error) {
	reported := 1
	if n/30%2 == 0 {
		reported = 100_000
	}
	return conversation.Completion{
		Text:   fmt.Sprintf("answer %d %s", n, strings.Repeat("word ", w.chance(n).IntN(30))),
		Tokens: conversation.Tokens{Prompt: reported, Completion: 10},
	}, nil
}

// fault lets a reply wait, now and then, so that newer input withdraws it.
func (w *talk) fault(n int, _ conversation.Key, _ string) conversationtest.Fault {
	if w.chance(n).IntN(20) > 0 {
		return conversationtest.Fault{}
	}
	return conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.Later, After: 5 * time.Second, Err: errTest}}
}

// turn is a message, or an edit of an older one, or both, or a newer one that
// comes before its answer is seen.
func (w *talk) turn(t *testing.T) {
	if n := len(w.said); n > 0 && w.rand.IntN(10) == 0 {
		id := w.said[max(0, n-1-w.rand.IntN(230))]
		w.receive(t, edit(alice, id, fmt.Sprintf("#%d in other words %d", id, w.update)))
	}
	w.say(t)
	time.Sleep(3 * time.Second)
	synctest.Wait()
	if w.rand.IntN(10) == 0 {
		w.say(t)
	}
	time.Sleep(10 * time.Second)
	synctest.Wait()
}

func (w *talk) say(t *testing.T) {
	text := strings.Repeat("word ", w.rand.IntN(20))
	id := w.channel.Next(alice, text)
	w.said = append(w.said, id)
	w.receive(t, message(alice, id, fmt.Sprintf("#%d %s", id, text)))
}

func (w *talk) receive(t *testing.T, a conversation.Arrival) {
	w.update++
	a.Update, a.Digest = w.update, fmt.Sprint(w.update)
	b := conversation.Batch{Identity: alice.Identity(), Offset: w.update + 1, Arrivals: []conversation.Arrival{a}}
	if err := w.engine.Receive(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	synctest.Wait() // or what it leads to at once races with what is received next
}

// TestRetentionIsNotNoticed: an engine that forgets asks its model for the same
// as one that keeps everything, and its edits reach as far back (I7). What it
// keeps has a bound: by number where the context is short, by tokens where it
// is long.
func TestRetentionIsNotNoticed(t *testing.T) {
	const turns, reach = 235, 200
	for _, c := range []struct{ context, bound int }{{100, reach + 1}, {2300, 245}} {
		t.Run(fmt.Sprintf("context of %d", c.context), func(t *testing.T) {
			seed := rand.Uint64()
			if *walks == 1 {
				seed = *walkSeed
			}
			t.Logf("run it again with: go test ./conversation -run TestRetentionIsNotNoticed -walks 1 -walk-seed %d", seed)
			prompts, left := longTalk(t, seed, c.context, turns, func(s conversation.Store) conversation.Store { return s })
			allPrompts, all := longTalk(t, seed, c.context, turns, func(s conversation.Store) conversation.Store { return hoarder{s} })
			if len(all) < turns {
				t.Errorf("without retention %d of %d turns are left: this test tells nothing", len(all), turns)
			}
			if len(left) < reach || len(left) > c.bound {
				t.Errorf("%d turns are left, want %d to %d", len(left), reach, c.bound)
			}
			for i := range min(len(prompts), len(allPrompts)) {
				if !reflect.DeepEqual(prompts[i], allPrompts[i]) {
					t.Fatalf("prompt %d has %d messages, without retention %d", i, len(prompts[i]), len(allPrompts[i]))
				}
			}
			if len(prompts) != len(allPrompts) {
				t.Errorf("%d prompts, without retention %d", len(prompts), len(allPrompts))
			}
			for i := range min(len(left), len(all)) {
				if !reflect.DeepEqual(left[i], all[i]) {
					t.Fatalf("turn %d from the end is %+v, without retention %+v", i, left[i], all[i])
				}
			}
		})
	}
}

// kept counts the records that make a file grow.
func (w *world) kept(k conversation.Key) (waiting, seen, journal int) {
	w.t.Helper()
	err := w.store.View(func(tx conversation.Tx) error {
		messages, err := tx.Messages(k)
		outbox, err2 := tx.Outbox(k)
		for range tx.Sightings(k.Identity()) {
			seen++
		}
		for range tx.Journal(k) {
			journal++
		}
		waiting = len(messages) + len(outbox)
		return errors.Join(err, err2)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return waiting, seen, journal
}

// TestOldRecordsAreForgotten: what was seen goes after days, the journal after
// a month, by itself; what waited is gone once it is answered.
func TestOldRecordsAreForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		const turns, day = 20, 24 * time.Hour
		for i := range turns {
			w.say(alice, fmt.Sprintf("#%d", i))
			w.after(3 * time.Second)
		}
		for _, c := range []struct {
			wait          time.Duration
			seen, journal int
		}{{day, 2 * turns, turns}, {3 * day, 0, turns}, {30 * day, 0, 0}} {
			w.after(c.wait)
			if waiting, seen, journal := w.kept(alice); waiting != 0 || seen != c.seen || journal != c.journal {
				t.Errorf("%v later: %d records wait, %d were seen, %d are in the journal; want 0, %d and %d", c.wait, waiting, seen, journal, c.seen, c.journal)
			}
		}
	})
}
