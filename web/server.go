package web

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"lastword/conversation"
)

// Channel is the name of this channel in conversation keys.
const Channel = "web"

// botID is the identity of the one bot that a store has on the web.
const botID = 1

// Server is the web chat; it implements [conversation.Channel].
type Server struct {
	config  Config
	turn    conversation.Config
	store   conversation.Store
	log     *slog.Logger
	hub     *hub
	receive func(context.Context, conversation.Batch) error
	allowed []string       // origins
	code    string         // makes whoever has it the owner; "" if there is no inspector
	serving sync.WaitGroup // connections
	closing sync.WaitGroup // what closes sockets; begun by connections and by the end of Run only

	mu      sync.Mutex
	settled []waiting // the engine has them; their records can go
}

// Options are what a server is made of.
type Options struct {
	Config Config
	Turn   conversation.Config // what pages are told about the engine
	Store  conversation.Store
	Log    *slog.Logger
}

// New makes a server. It does nothing until Run. The configuration must be
// valid.
func New(o Options) *Server {
	s := &Server{config: o.Config, turn: o.Turn, store: o.Store, log: o.Log, hub: newHub()}
	if o.Config.Inspector {
		s.code = secret()
	}
	return s
}

// secret is one that cannot be guessed: 256 bits, for a URL or a cookie.
func secret() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails, see crypto/rand
	return base64.RawURLEncoding.EncodeToString(b)
}

// Identity is what the conversation keys of the web chat begin with.
func (s *Server) Identity() string { return s.key(0).Identity() }

func (s *Server) key(number int64) conversation.Key {
	return conversation.Key{Channel: Channel, Bot: botID, Chat: number}
}

// Store is what the engine of the web chat has to use: the store that the
// server was made with, which tells pages of what is committed.
func (s *Server) Store() conversation.Store { return watched{s.store, s.touched} }

// touched is called after a commit that was about a conversation.
func (s *Server) touched(k conversation.Key) {
	if k.Channel != Channel {
		return
	}
	if _, writing := s.hub.written(k.Chat); writing {
		if v, err := s.look(k.Chat, false); err == nil {
			s.hub.settle(k.Chat, v.inFlight)
		}
	}
	s.hub.each(k.Chat, func(c *conn) { c.mark(dirtyState) })
}

// Listen opens the address of the configuration.
func (s *Server) Listen() (net.Listener, error) {
	l, err := net.Listen("tcp", s.config.Listen)
	if err != nil {
		return nil, fmt.Errorf("web.listen: %w", err)
	}
	return l, nil
}

// Address is where a browser finds the chat on a listener. With an inspector it
// holds the code that makes its visitor the owner: show it to the operator and
// nobody else.
func (s *Server) Address(l net.Listener) string {
	base := s.origins(l)[0]
	if s.code == "" {
		return base + "/"
	}
	return base + "/owner?code=" + s.code
}

func (s *Server) origins(l net.Listener) []string {
	if o := s.config.origins(l.Addr().String()); len(o) > 0 {
		return o
	}
	return []string{"http://" + l.Addr().String()}
}

const (
	stopPatience = 3 * time.Second // for requests in flight, and for pages to hear that the server ends
	tidyEvery    = time.Minute
)

// Run serves on a listener, which it closes, and hands what people do to
// receive, which stores it, until ctx ends. First it hands over what the process
// before had stored and may not have handed over.
func (s *Server) Run(ctx context.Context, l net.Listener, receive func(context.Context, conversation.Batch) error) error {
	s.receive = receive
	s.allowed = s.origins(l)
	if err := s.handOver(ctx); err != nil {
		_ = l.Close()
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx)) // pages are told before they are cut off
	defer cancel()
	server := &http.Server{
		Handler: s.handler(work), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug), // it quotes what clients send
	}
	served := make(chan error, 1)
	var group sync.WaitGroup
	group.Go(func() { served <- server.Serve(l) })
	group.Go(func() { s.tidy(work) })
	s.log.Info("the web chat is open", "address", l.Addr().String())
	var err error
	select {
	case err = <-served:
	case <-ctx.Done():
	}
	s.part(ctx, server)
	cancel()
	s.serving.Wait()
	s.closing.Wait()
	_ = server.Close()
	group.Wait()
	if err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("web: %w", err)
	}
	return nil
}

// part lets nobody in any more, and tells the pages that are there; they come
// back by themselves.
func (s *Server) part(ctx context.Context, server *http.Server) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	_ = server.Shutdown(ctx) // what does not end in time is cut off
	for _, c := range s.hub.all() {
		c.end(websocket.StatusGoingAway, "the server ends")
	}
	gone := make(chan struct{})
	go func() { s.serving.Wait(); close(gone) }()
	select {
	case <-gone:
	case <-ctx.Done():
	}
}

// handOver brings the engine what was stored and may not have reached it. It
// drops what it has.
func (s *Server) handOver(ctx context.Context) error {
	var left []waiting
	var arrivals []conversation.Arrival
	err := s.store.View(func(tx conversation.Tx) (err error) {
		t := records{tx}
		all, err := t.pending()
		for _, w := range all {
			e, found, err1 := t.entry(w.number, w.id)
			session, _, err2 := t.session(w.number)
			if err := errors.Join(err1, err2); err != nil {
				s.log.Error("a message cannot be handed over: a record cannot be read", "chat", w.number, "err", err)
				continue // it costs only its own session
			}
			left = append(left, w)
			if found {
				arrivals = append(arrivals, s.arrivals(session, e)...)
			}
		}
		return err
	})
	if err != nil || len(left) == 0 {
		return err
	}
	for chunk := range slices.Chunk(arrivals, 100) {
		if err := s.receive(ctx, conversation.Batch{Identity: s.Identity(), Arrivals: chunk}); err != nil {
			return err
		}
	}
	s.settle(left...)
	return s.store.Update(func(tx conversation.Tx) error { return s.sweep(records{tx}) })
}

// settle notes that the engine has something.
func (s *Server) settle(w ...waiting) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settled = append(s.settled, w...)
}

// sweep removes the records of what is settled. That it is done in the
// transaction of something else saves one; that it takes the list within the
// transaction keeps it from removing what that writes.
func (s *Server) sweep(t records) error {
	s.mu.Lock()
	done := s.settled
	s.settled = nil
	s.mu.Unlock()
	var errs []error
	for _, w := range done {
		errs = append(errs, t.DeleteRecord(w.name()))
	}
	return errors.Join(errs...)
}

// tidy removes, now and then, what need not be kept. A record of something that
// is settled must not outlive what the engine knows of it, which is days.
func (s *Server) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	var forgotten time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			err := s.store.Update(func(tx conversation.Tx) error {
				t := records{tx}
				if now.Sub(forgotten) < time.Hour {
					return s.sweep(t)
				}
				forgotten = now
				return errors.Join(s.sweep(t), t.forget(now.Add(-clientKept)))
			})
			if err != nil {
				s.log.Error("old records of the web chat could not be removed", "err", err)
			}
		}
	}
}

// find is the number of a session; 0 if nothing of it is stored.
func (s *Server) find(hash string) (number int64, err error) {
	err = s.store.View(func(tx conversation.Tx) (err error) {
		number, err = records{tx}.number(hash)
		return err
	})
	return number, err
}

// last is the newest sequence number of a session.
func (s *Server) last(number int64) (last int64, err error) {
	err = s.store.View(func(tx conversation.Tx) error {
		r, _, err := records{tx}.session(number)
		last = r.Seq
		return err
	})
	return last, err
}

// changes reads a piece of a session's log.
func (s *Server) changes(number, after int64, limit int) (out []entry, more bool, err error) {
	err = s.store.View(func(tx conversation.Tx) (err error) {
		out, more, err = records{tx}.changes(number, after, limit)
		return err
	})
	return out, more, err
}
