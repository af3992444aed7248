package conversation_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

// years is a group of people who have been talking for a long time, each one
// turn a round.
type years struct {
	b      *testing.B
	engine *conversation.Engine
	now    time.Time
	keys   []conversation.Key
	id     int64 // of the newest message
}

// round is one turn of everybody, in the four transactions of a turn.
func (y *years) round() {
	in := conversation.Batch{Identity: alice.Identity()}
	for _, k := range y.keys {
		y.id++
		a := message(k, y.id, "a question of the length that people write, more or less")
		a.Update, a.Digest = y.id, fmt.Sprint(y.id)
		in.Arrivals = append(in.Arrivals, a)
	}
	y.apply(in)
	y.now = y.now.Add(2 * time.Second)
	var due, generated, delivered []conversation.Happened
	for _, k := range y.keys {
		due = append(due, conversation.Happened{Key: k, Event: conversation.Due{}})
	}
	answer := strings.Repeat("an answer is longer than a question ", 12)
	for _, e := range y.apply(conversation.Batch{Identity: alice.Identity()}, due...) {
		g := e.Effect.(conversation.Generate)
		generated = append(generated, conversation.Happened{Key: e.Key, Event: conversation.Generated{
			Work: g.Work, Text: answer, Parts: []conversation.Part{{Text: answer}}, Estimate: 1000,
			Meter: conversation.Meter{Tokens: conversation.Tokens{Prompt: 1000, Completion: 100}, Took: time.Second, Started: y.now},
		}})
	}
	y.now = y.now.Add(2 * time.Second)
	for _, e := range y.apply(conversation.Batch{Identity: alice.Identity()}, generated...) {
		s := e.Effect.(conversation.Send)
		y.id++
		delivered = append(delivered, conversation.Happened{Key: e.Key, Event: conversation.Delivered{
			Incarnation: s.Incarnation, Reply: s.Reply, Index: s.Index, Receipt: y.id, Begun: y.now,
		}})
	}
	if len(delivered) != len(y.keys) {
		y.b.Fatalf("%d of %d turns came to an answer", len(delivered), len(y.keys))
	}
	y.apply(conversation.Batch{Identity: alice.Identity()}, delivered...)
}

func (y *years) apply(in conversation.Batch, events ...conversation.Happened) []conversation.Begun {
	begun, err := y.engine.Apply(y.now, in, events...)
	if err != nil {
		y.b.Fatal(err)
	}
	return begun
}

// BenchmarkFileSize is how large the file is after 25,000, 50,000, 75,000 and
// 100,000 turns: 100 people, ten turns a day each, 100 days. It fails if the
// file does not level off.
func BenchmarkFileSize(b *testing.B) {
	const people, turns, perDay = 100, 100_000, 1000
	for b.Loop() {
		path := filepath.Join(b.TempDir(), "bench.db")
		store, err := storage.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		y := &years{b: b, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
		y.engine = conversation.New(conversation.Options{
			Config: conversation.DefaultConfig(), Limits: conversation.Limits{ContextTokens: 8000}, Identity: alice.Identity(),
			Store: store, Channel: &conversationtest.Channel{}, Log: slog.New(slog.DiscardHandler),
		})
		for i := range people {
			y.keys = append(y.keys, conversation.Key{Channel: "test", Bot: 1, Chat: int64(1000 + i)})
		}
		var sizes []int64
		for done := people; done <= turns; done += people {
			next := y.now.Add(24 * time.Hour * people / perDay)
			y.round()
			y.now = next
			if done%(turns/4) == 0 {
				info, err := os.Stat(path)
				if err != nil {
					b.Fatal(err)
				}
				sizes = append(sizes, info.Size())
				b.ReportMetric(float64(info.Size())/1e6, fmt.Sprintf("after-%d/4-of-100,000-turns-MB", len(sizes)))
			}
		}
		if half, end := sizes[1], sizes[3]; float64(end) > 1.2*float64(half) {
			b.Errorf("the file has %d bytes after half of the turns and %d in the end: it does not level off", half, end)
		}
		if err := store.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
}
