package conversation_test

import (
	"context"
	"encoding/json"
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

// BenchmarkAcceptance stores batches of 100 updates durably, and in turn with
// it commits the same bytes to a bare bbolt file. The metric ratio is the one
// over the other.
func BenchmarkAcceptance(b *testing.B) {
	const batch = 100
	config := conversation.DefaultConfig()
	config.Debounce, config.MaxWait = time.Hour, 2*time.Hour
	engine := bench(b, config, &conversationtest.Model{}, &conversationtest.Channel{})
	bare, err := bolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, &bolt.Options{FreelistType: bolt.FreelistMapType})
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var ours, theirs time.Duration
	id := int64(0)
	for b.Loop() {
		in := conversation.Batch{Identity: alice.Identity(), Offset: id}
		var raw [][]byte
		for range batch {
			id++
			k := alice
			k.Chat = 1000 + id/5 // five messages a person
			a := message(k, id, "a message of the length that people write, more or less")
			a.Update, a.Digest = id, fmt.Sprint(id)
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
		ours += time.Since(start)
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
		theirs += time.Since(start)
	}
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "µs/batch")
	b.ReportMetric(batch*float64(b.N)/ours.Seconds(), "updates/s")
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
