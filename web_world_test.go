package main

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
	"lastword/web"
)

const webOrigin = "http://127.0.0.1:8080"

// pipes is a listener without a network, which a synctest bubble can wait for.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), done: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
}

// mortalStore is a store that writes nothing any more once its process was
// killed, and can be made to fail before or after a commit.
type mortalStore struct {
	conversation.Store
	dead *atomic.Bool
	trap func(tx conversation.Tx) (before, after bool) // kill the process there
	full *atomic.Int64                                 // commits until one finds the disk full
}

func (m mortalStore) Update(fn func(conversation.Tx) error) error {
	if m.dead.Load() {
		return conversation.ErrBroken
	}
	if m.full.Add(-1) == 0 {
		return conversation.ErrFull
	}
	after := false
	err := m.Store.Update(func(tx conversation.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		if m.trap != nil {
			before := false
			if before, after = m.trap(tx); before {
				m.dead.Store(true)
				return conversation.ErrBroken
			}
		}
		return nil
	})
	if after {
		m.dead.Store(true)
	}
	if m.dead.Load() {
		return conversation.ErrBroken
	}
	return err
}

// webWorld is a web chat with its engine over a real store, in a bubble.
type webWorld struct {
	t      *testing.T
	path   string
	turn   conversation.Config
	config web.Config
	model  *conversationtest.Model
	log    *safeBuffer
	mu     sync.Mutex
	trap   func(tx conversation.Tx) (before, after bool) // guarded by mu

	db     *storage.DB
	dead   atomic.Bool
	full   atomic.Int64
	chat   *web.Server
	wire   atomic.Pointer[pipes]
	end    context.CancelFunc
	ended  chan struct{}
	pages  []*page
	cookie string
	client *http.Client
}

func inWebWorld(t *testing.T, test func(t *testing.T, w *webWorld)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &webWorld{
			t: t, path: filepath.Join(t.TempDir(), "test.db"), turn: conversation.DefaultConfig(), config: web.DefaultConfig(),
			model: &conversationtest.Model{Delay: 2 * time.Second}, log: &safeBuffer{},
		}
		w.config.Listen = "127.0.0.1:8080"
		w.turn.Debounce, w.turn.MaxWait = 300*time.Millisecond, 2*time.Second
		w.client = &http.Client{
			Transport:     &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return w.dial(ctx) }},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
		w.start()
		defer w.finish()
		test(t, w)
	})
}

func (w *webWorld) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	p := w.wire.Load()
	select {
	case p.conns <- there:
		return here, nil
	case <-p.done:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (w *webWorld) start() {
	w.t.Helper()
	db, err := storage.Open(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.db = db
	w.dead.Store(false)
	store := mortalStore{db, &w.dead, func(tx conversation.Tx) (bool, bool) {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.trap == nil {
			return false, false
		}
		return w.trap(tx)
	}, &w.full}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w.chat = web.New(web.Options{Config: w.config, Turn: w.turn, Store: store, Log: log})
	engine := conversation.New(conversation.Options{
		Config: w.turn, Limits: conversation.Limits{Retries: 2, ContextTokens: 10_000},
		Identity: w.chat.Identity(), Store: w.chat.Store(), Model: w.model, Channel: w.chat, Log: log,
	})
	wire := newPipes()
	w.wire.Store(wire)
	ctx, cancel := context.WithCancel(context.Background())
	w.end, w.ended = cancel, make(chan struct{})
	run := func(ctx context.Context, receive func(context.Context, conversation.Batch) error) error {
		return w.chat.Run(ctx, wire, receive)
	}
	go func() {
		defer close(w.ended)
		if err := serve(ctx, []service{{engine, run, nil}}, slog.New(slog.DiscardHandler)); err != nil && !errors.Is(err, conversation.ErrBroken) {
			w.t.Errorf("serving: %v", err)
		}
	}()
	synctest.Wait()
}

// stop ends the process as a signal does.
func (w *webWorld) stop() {
	w.t.Helper()
	w.end()
	<-w.ended
	if err := errors.Join(w.db.Check(), w.db.Close()); err != nil {
		w.t.Error(err)
	}
}

// kill ends the process as kill -9 does: from now on nothing is written.
func (w *webWorld) kill() {
	w.t.Helper()
	w.dead.Store(true)
	w.stop()
}

func (w *webWorld) finish() {
	w.t.Helper()
	w.stop()
	for _, p := range w.pages {
		p.cut()
	}
	w.client.CloseIdleConnections()
	for _, text := range []string{w.cookie, "secret text"} {
		if text != "" && strings.Contains(w.log.text(), text) {
			w.t.Errorf("I8: the log holds %q", text)
		}
	}
}

// setTrap sets what is asked at each commit whether the process dies there.
func (w *webWorld) setTrap(trap func(tx conversation.Tx) (before, after bool)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trap = trap
}

func (w *webWorld) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (w *webWorld) wantCalls(want ...string) {
	w.t.Helper()
	var got []string
	for _, c := range w.model.Calls() {
		s := strings.Join(c.Turn, " ")
		if c.Cancelled {
			s += " cancelled"
		}
		got = append(got, s)
	}
	if !slices.Equal(got, want) {
		w.t.Errorf("model calls %q, want %q", got, want)
	}
}

// get asks for a page with the cookies given.
func (w *webWorld) get(path string, cookies ...*http.Cookie) (*http.Response, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, webOrigin+path, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	response, err := w.client.Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer response.Body.Close()
	var body bytes.Buffer
	_, _ = body.ReadFrom(response.Body)
	return response, body.String()
}
