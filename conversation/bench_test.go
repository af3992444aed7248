package conversation_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

// counted is a store that counts its commits.
type counted struct {
	conversation.Store
	commits *atomic.Int64
}

func (c counted) Update(fn func(conversation.Tx) error) error {
	c.commits.Add(1)
	return c.Store.Update(fn)
}

// bench is an engine on a real disk and the real clock.
func bench(b *testing.B, config conversation.Config, model conversation.Model, channel conversation.Channel) (*conversation.Engine, *atomic.Int64) {
	b.Helper()
	store, err := storage.Open(filepath.Join(b.TempDir(), "bench.db"))
	if err != nil {
		b.Fatal(err)
	}
	commits := new(atomic.Int64)
	engine := conversation.New(conversation.Options{
		Config: config, Limits: conversation.Limits{ContextTokens: 10_000}, Identity: alice.Identity(),
		Store: counted{store, commits}, Model: model, Channel: channel, Log: slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- engine.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	return engine, commits
}

// stopwatch is a model and a channel that note when they are called.
type stopwatch struct {
	conversationtest.Channel
	asked, answered, sent chan time.Time
}

func (s *stopwatch) Generate(context.Context, []conversation.PromptMessage, func(string)) (conversation.Completion, error) {
	s.asked <- time.Now()
	s.answered <- time.Now()
	return conversation.Completion{Text: "an answer"}, nil
}

func (s *stopwatch) Send(context.Context, conversation.Key, conversation.Part, conversation.Source) (int64, error) {
	s.sent <- time.Now()
	return 1, nil
}

// BenchmarkTurn measures the engine's own time: from the timer to the model
// call, and from the model's last token to the send. It fails if a turn takes
// more commits than the four it needs, that of its message included.
func BenchmarkTurn(b *testing.B) {
	config := conversation.DefaultConfig()
	config.Debounce = 2 * time.Millisecond
	s := &stopwatch{asked: make(chan time.Time, 1), answered: make(chan time.Time, 1), sent: make(chan time.Time, 1)}
	engine, commits := bench(b, config, s, s)
	b.ReportAllocs()
	var toModel, toSend []time.Duration
	id := int64(0)
	for b.Loop() {
		id++
		k := alice
		k.Chat = 1000 + id
		a := message(k, id, "hello")
		if err := engine.Receive(context.Background(), conversation.Batch{Identity: alice.Identity(), Arrivals: []conversation.Arrival{a}}); err != nil {
			b.Fatal(err)
		}
		due := time.Now().Add(config.Debounce)
		toModel = append(toModel, (<-s.asked).Sub(due))
		answered := <-s.answered
		toSend = append(toSend, (<-s.sent).Sub(answered))
	}
	median := func(d []time.Duration) float64 {
		slices.Sort(d)
		return float64(d[len(d)/2].Microseconds()) / 1000
	}
	b.ReportMetric(median(toModel), "timer-to-model-call-ms")
	b.ReportMetric(median(toSend), "last-token-to-send-ms")
	if n := commits.Load(); n > 4*int64(b.N) {
		b.Errorf("%d commits for %d turns", n, b.N)
	}
	b.ReportMetric(float64(commits.Load())/float64(b.N), "a-turn-commits")
	b.ReportMetric(0, "ns/op") // most of it is the debounce
}
