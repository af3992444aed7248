package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is an engine over a real store, with people, a model and a channel,
// inside a bubble.
type world struct {
	t       *testing.T
	path    string
	config  conversation.Config
	limits  conversation.Limits
	model   *conversationtest.Model
	channel *conversationtest.Channel

	store   *storage.DB
	engine  *conversation.Engine
	dead    atomic.Bool // the process was killed: nothing is written any more
	commits atomic.Int64
	fail    atomic.Pointer[error]  // what the store says instead of writing
	disk    *conversationtest.Disk // what the store is on, if that has faults
	end     context.CancelFunc
	ended   chan error
	update  int64
	tokens  int
	presses int

	see  func(conversation.Key, conversation.Part, conversation.Source) // every send, before its fate
	logs io.Writer                                                      // gets the log too

	crash *crash                   // where the next process is to crash, if it is
	spoil func(*testing.T, string) // what becomes of the file then
}

var (
	alice = conversation.Key{Channel: "test", Bot: 1, Chat: 101}
	bob   = conversation.Key{Channel: "test", Bot: 1, Chat: 102}
)

// inWorld runs a test in a bubble with a running engine.
func inWorld(t *testing.T, test func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t: t, path: filepath.Join(t.TempDir(), "test.db"), config: conversation.DefaultConfig(),
			limits: conversation.Limits{Retries: 2, ContextTokens: 1000},
			model:  &conversationtest.Model{Delay: time.Second}, channel: &conversationtest.Channel{},
		}
		w.config.Debounce, w.config.MaxWait = 300*time.Millisecond, 2*time.Second
		w.start()
		defer w.finish()
		test(w)
	})
}

// mortal is a store that writes nothing once its process was killed. It counts
// its transactions.
type mortal struct {
	conversation.Store
	dead    *atomic.Bool
	commits *atomic.Int64
	fail    *atomic.Pointer[error]
}

func (m mortal) Update(fn func(conversation.Tx) error) error {
	if m.dead.Load() {
		return conversation.ErrBroken
	}
	if err := m.fail.Load(); err != nil {
		return *err
	}
	m.commits.Add(1)
	return m.Store.Update(func(tx conversation.Tx) error {
		err := fn(tx)
		if m.dead.Load() {
			return conversation.ErrBroken
		}
		return err
	})
}

// seen is a channel whose sends are looked at.
type seen struct {
	*conversationtest.Channel
	see func(conversation.Key, conversation.Part, conversation.Source)
}

func (c seen) Send(ctx context.Context, to conversation.Key, p conversation.Part, target conversation.Source) (int64, error) {
	c.see(to, p, target)
	return c.Channel.Send(ctx, to, p, target)
}

func (w *world) start() {
	w.t.Helper()
	store, err := storage.Open(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = store
	w.dead.Store(false)
	w.channel.Restart()
	var base conversation.Store = store
	if w.disk != nil {
		w.disk.Store, base = store, w.disk
	}
	options := conversation.Options{
		Config: w.config, Limits: w.limits, Identity: alice.Identity(), Store: mortal{base, &w.dead, &w.commits, &w.fail},
		Model: w.model, Channel: w.channel, Log: slog.New(slog.NewTextHandler(w.t.Output(), nil)),
		Token: func() string { w.tokens++; return fmt.Sprintf("token%d", w.tokens) },
	}
	if w.see != nil {
		options.Channel = seen{w.channel, w.see}
	}
	if w.logs != nil {
		options.Log = slog.New(slog.NewTextHandler(io.MultiWriter(w.logs, w.t.Output()), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if c := w.crash; c != nil {
		options.Store, options.Model, options.Channel = crashStore{options.Store, c}, crashModel{w.model, c}, crashChannel{w.channel, c}
	}
	w.engine = conversation.New(options)
	ctx, cancel := context.WithCancel(w.t.Context())
	w.end, w.ended = cancel, make(chan error, 1)
	engine, ended := w.engine, w.ended
	go func() { ended <- engine.Run(ctx) }()
	synctest.Wait()
}

// stop ends the process in order.
func (w *world) stop() {
	w.t.Helper()
	w.end()
	if err := <-w.ended; err != nil {
		w.t.Fatal(err)
	}
	w.close()
}

// kill ends it as a SIGKILL does: what is not on disk is gone.
func (w *world) kill() {
	w.t.Helper()
	w.dead.Store(true)
	w.end()
	<-w.ended
	w.close()
}

func (w *world) close() {
	w.t.Helper()
	if err := w.store.Check(); err != nil {
		w.t.Fatal(err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) finish() {
	if w.store != nil {
		w.stop()
	}
}

// deliver brings arrivals to the engine, as one batch.
func (w *world) deliver(as ...conversation.Arrival) {
	w.t.Helper()
	for i := range as {
		if as[i].Update == 0 {
			w.update++
			as[i].Update, as[i].Digest = w.update, fmt.Sprint(w.update)
		}
	}
	b := conversation.Batch{Identity: alice.Identity(), Offset: w.update + 1, Arrivals: as}
	for err := w.engine.Receive(w.t.Context(), b); err != nil; err = w.engine.Receive(w.t.Context(), b) {
		if !w.revive() {
			w.t.Fatal(err)
		}
	}
	synctest.Wait()
}

// revive starts a process anew that has crashed; false if it has not.
func (w *world) revive() bool {
	w.t.Helper()
	c := w.crash
	if c == nil || !c.died() {
		return false
	}
	close(c.gone)
	w.kill()
	if w.spoil != nil && c.names[c.at-1] == "commit" {
		w.spoil(w.t, w.path)
	}
	w.crash = nil
	time.Sleep(200 * time.Millisecond)
	w.start()
	return true
}

func message(k conversation.Key, id int64, text string) conversation.Arrival {
	src := conversation.Source{Chat: k.Chat, ID: id}
	return conversation.Arrival{Key: k, Source: src, Event: conversation.Incoming{
		Message: conversation.Message{
			Source: src, Author: conversation.Author{ID: k.Chat, Name: "Ann"},
			Content: conversation.Content{Text: text}, Sent: time.Now(),
		},
		Addressed: true,
	}}
}

func edit(k conversation.Key, id int64, text string) conversation.Arrival {
	a := message(k, id, text)
	a.Event = conversation.Edited{Incoming: a.Event.(conversation.Incoming)}
	return a
}

func (w *world) command(k conversation.Key, e conversation.Event) {
	w.t.Helper()
	id := w.channel.Next(k, fmt.Sprintf("%T", e))
	w.deliver(conversation.Arrival{Key: k, Source: conversation.Source{Chat: k.Chat, ID: id}, Event: e})
}

// say sends a message of a user and returns its id.
func (w *world) say(k conversation.Key, text string) int64 {
	w.t.Helper()
	id := w.channel.Next(k, text)
	w.deliver(message(k, id, text))
	return id
}

// after lets virtual time pass.
func (w *world) after(d time.Duration) {
	const step = 20 * time.Millisecond
	for ; w.crash != nil && d > step; d -= step {
		time.Sleep(step)
		synctest.Wait()
		w.revive()
	}
	time.Sleep(d)
	synctest.Wait()
	w.revive()
}

func (w *world) wantShown(k conversation.Key, want ...string) {
	w.t.Helper()
	if got := w.channel.Texts(k); strings.Join(got, "|") != strings.Join(want, "|") {
		w.t.Errorf("%v shows %q, want %q", k, got, want)
	}
}

func (w *world) wantCalls(want ...string) {
	w.t.Helper()
	var got []string
	for _, c := range w.model.Calls() {
		s := strings.Join(c.Turn, " ")
		if c.Cancelled {
			s += " cancelled"
		}
		got = append(got, s)
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		w.t.Errorf("model calls %q, want %q", got, want)
	}
}

var errTest = errors.New("test")
