package storage_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	bolt "go.etcd.io/bbolt"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

var (
	damaged = conversation.Key{Channel: "test", Bot: 1, Chat: 1}
	whole   = conversation.Key{Channel: "test", Bot: 1, Chat: 12}
	fresh   = conversation.Key{Channel: "test", Bot: 1, Chat: 13}
)

// FuzzStart puts any bytes into the records of one conversation and starts an
// engine on them. Whatever they are, it starts, others are answered, what waited
// before and what comes now, and nothing goes round in circles.
func FuzzStart(f *testing.F) {
	state := []struct{ bucket, key, value string }{
		{"timers", "", `{"due":"2000-01-01T00:00:10Z","armed":1,"reason":"debounce","bound":1000000000}`},
		{"conversations", "", `{"incarnation":"x","version":1}`},
		{"messages", number(1), `{"version":1,"changed":1,"source":{"chat":1,"id":1},"content":{"text":"#d"}}`},
		{"leases", "", `{"owner":"gone","epoch":3,"expiry":"2000-01-01T00:00:30Z","incarnation":"x","version":1,"generation":1}`},
		{"outbox", number(1), `{"id":1,"version":1,"generation":1}`},
		{"outbox", number(1) + number(0), `{"text":"re: #d","state":"claimed"}`},
		{"history", number(1), `{"id":1,"messages":[{"version":1,"source":{"chat":1,"id":1}}],"reply":"re: #d"}`},
	}
	for _, s := range state {
		f.Add(s.bucket, s.key, []byte(s.value))
		f.Add(s.bucket, s.key, []byte(s.value[:len(s.value)-9]))
		f.Add(s.bucket, s.key, []byte("{}"))
		f.Add(s.bucket, s.key, []byte("null"))
	}
	for _, value := range []string{
		`{"incarnation":"x","movedTo":{"Channel":"test","Bot":1,"Chat":1}}`, `{"movedTo":{"Channel":"test","Bot":1,"Chat":12}}`,
		`{"incarnation":"x","version":18446744073709551615}`, `{"version":1,"restarts":-9,"failures":-9,"ratio":1e308,"budget":-1}`,
		`{"version":1,"closing":{},"revising":{"turn":9}}`,
	} {
		f.Add("conversations", "", []byte(value))
	}
	f.Add("outbox", number(1)+number(0), []byte(`{"text":"","state":"pending","attempts":-9,"notBefore":"9000-01-01T00:00:00Z","waited":-1}`))
	f.Add("outbox", number(1)+number(0), []byte(`{"state":"unknown","above":9223372036854775807,"since":"0001-01-01T00:00:00Z"}`))
	f.Add("outbox", number(1), []byte(`{"id":1,"revises":5,"notice":{"code":"?"}}`))
	for _, bucket := range []string{"timers", "leases", "outbox", "conversations"} {
		f.Add(bucket, "test/1/x/0", []byte("{}"))
		f.Add(bucket, "test/1/01/0", []byte("{}"))
	}
	blank := filepath.Join(f.TempDir(), "blank.db")
	db, err := storage.Open(blank)
	if err := errors.Join(err, db.Close()); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, bucket, key string, value []byte) {
		path := filepath.Join(t.TempDir(), "test.db")
		data, err := os.ReadFile(blank)
		if err := errors.Join(err, os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
		if !damage(t, path, bucket, key, value, state) {
			t.Skip()
		}
		synctest.Test(t, func(t *testing.T) { startOn(t, path) })
	})
}

func number(n byte) string { return "\x00\x00\x00\x00\x00\x00\x00" + string(rune(n)) }

// damage writes a conversation in the middle of everything, with one record
// replaced, and one that waits. It returns false if that is no record.
func damage(t *testing.T, path, bucket, key string, value []byte, state []struct{ bucket, key, value string }) bool {
	db, err := bolt.Open(path, 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	place := func(key string) []byte {
		switch {
		case key == "":
			return []byte(damaged.String())
		case strings.HasPrefix(key, damaged.Identity()): // of no conversation
			return []byte(key)
		}
		return []byte(damaged.String() + "\x00" + key)
	}
	planted := false
	err = db.Update(func(tx *bolt.Tx) error {
		for _, s := range state {
			if s.bucket != "outbox" && s.bucket != "leases" || s.bucket == bucket { // else nothing is started
				if err := tx.Bucket([]byte(s.bucket)).Put(place(s.key), []byte(s.value)); err != nil {
					return err
				}
			}
		}
		if b := tx.Bucket([]byte(bucket)); b != nil && bucket != "meta" && bucket != "seen" {
			planted = b.Put(place(key), value) == nil
		}
		return errors.Join(
			tx.Bucket([]byte("conversations")).Put([]byte(whole.String()), []byte(`{"incarnation":"y","version":1}`)),
			tx.Bucket([]byte("timers")).Put([]byte(whole.String()), []byte(`{"due":"2000-01-01T00:00:00Z","armed":1,"reason":"debounce"}`)),
			tx.Bucket([]byte("messages")).Put([]byte(whole.String()+"\x00"+number(1)), []byte(`{"version":1,"changed":1,"source":{"chat":12,"id":2},"content":{"text":"#w"}}`)))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return planted
}

// bounded is a store that fails when an engine goes round in circles.
type bounded struct {
	conversation.Store
	left int
}

var (
	errCircles = errors.New("far too many transactions")
	errTest    = errors.New("test")
)

func (b *bounded) Update(fn func(conversation.Tx) error) error {
	if b.left--; b.left < 0 {
		return errors.Join(conversation.ErrBroken, errCircles)
	}
	return b.Store.Update(fn)
}

func startOn(t *testing.T, path string) {
	db := open(t, path)
	defer db.Close()
	config := conversation.DefaultConfig()
	channel := &conversationtest.Channel{Fault: func(n int, k conversation.Key, _ string) (f conversationtest.Fault) {
		if k == damaged && n%2 == 1 { // so that its counters count
			f.Err = &conversation.SendError{Kind: conversation.NotSent, Err: errTest}
		}
		return f
	}}
	model := &conversationtest.Model{Answer: func(ctx context.Context, n int, prompt []conversation.PromptMessage) (conversation.Completion, error) {
		marks := conversationtest.Marks(prompt[len(prompt)-1].Text)
		if n%3 == 1 && slices.Contains(marks, "#d") {
			return conversation.Completion{}, &conversation.ModelError{Kind: conversation.Temporary, Err: errTest}
		}
		return conversation.Completion{Text: "re: " + strings.Join(marks, " ")}, nil
	}}
	log := &strings.Builder{}
	engine := conversation.New(conversation.Options{
		Config: config, Limits: conversation.Limits{Retries: 1, ContextTokens: 1000}, Identity: damaged.Identity(),
		Store: &bounded{db, 2000}, Model: model, Channel: channel,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- engine.Run(ctx) }()
	for i, k := range []conversation.Key{damaged, fresh} {
		id := channel.Next(k, "#f")
		src := conversation.Source{Chat: k.Chat, ID: id + 100}
		err := engine.Receive(ctx, conversation.Batch{Identity: k.Identity(), Offset: int64(i), Arrivals: []conversation.Arrival{{
			Update: int64(i + 1), Digest: fmt.Sprint(i), Key: k, Source: src, Event: conversation.Incoming{Addressed: true, Message: conversation.Message{
				Source: src, Content: conversation.Content{Text: "#f"}, Sent: time.Now(),
			}},
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(5 * time.Minute)
	for k, want := range map[conversation.Key]string{whole: "re: #w", fresh: "re: #f"} {
		// A damaged signpost can lead somebody else's message here.
		if got := strings.Join(channel.Texts(k), "|"); !strings.HasPrefix(got, want) {
			t.Errorf("%v shows %q, want %q", k, got, want)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("the engine ended: %v", err)
	}
	if s := log.String(); strings.Contains(s, "panic") {
		t.Errorf("the rules panicked: %s", s)
	}
}
