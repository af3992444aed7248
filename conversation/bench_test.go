package conversation_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

// bench is an engine on a real disk and the real clock.
func bench(b *testing.B, config conversation.Config, model conversation.Model, channel conversation.Channel) *conversation.Engine {
	b.Helper()
	store, err := storage.Open(filepath.Join(b.TempDir(), "bench.db"))
	if err != nil {
		b.Fatal(err)
	}
	engine := conversation.New(conversation.Options{
		Config: config, Limits: conversation.Limits{ContextTokens: 10_000}, Identity: alice.Identity(),
		Store: store, Model: model, Channel: channel, Log: slog.New(slog.DiscardHandler),
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
	return engine
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
// call, and from the model's answer to the send.
func BenchmarkTurn(b *testing.B) {
	config := conversation.DefaultConfig()
	config.Debounce = 2 * time.Millisecond
	s := &stopwatch{asked: make(chan time.Time, 1), answered: make(chan time.Time, 1), sent: make(chan time.Time, 1)}
	engine := bench(b, config, s, s)
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
	b.ReportMetric(median(toModel), "ms-timer-to-model")
	b.ReportMetric(median(toSend), "ms-answer-to-send")
}
