package web

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"lastword/conversation"
)

// hub knows who is connected. What a session shows is in the store; here is
// only what may be forgotten when the process ends.
type hub struct {
	mu       sync.Mutex
	count    int                 // connections
	byHash   map[string]*session // with at least one connection
	byNumber map[int64]*session
	previews map[int64]preview
}

// preview is what a model has written so far.
type preview struct {
	generation conversation.Generation
	text       string
}

// session is a session that somebody is connected to.
type session struct {
	hash   string
	number atomic.Int64 // 0 until something of it is stored

	// live is the connection that an exclusive session belongs to. It changes
	// by compare-and-swap only, so that of two newcomers one gets it, and one
	// that ends cannot let go of what is another's already.
	live atomic.Pointer[conn]

	conns map[*conn]bool // guarded by the hub
}

func newHub() *hub {
	return &hub{byHash: map[string]*session{}, byNumber: map[int64]*session{}, previews: map[int64]preview{}}
}

// mostOfSession bounds the connections of one session, a refused newcomer's
// included.
const mostOfSession = 16

// enter counts a connection, also while it has not said hello; false if there
// are too many.
func (h *hub) enter(most int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.count >= most {
		return false
	}
	h.count++
	return true
}

func (h *hub) exit() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.count--
}

// join adds a connection to its session; false if that has too many.
func (h *hub) join(c *conn, number int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.byHash[c.hash]
	if s != nil && len(s.conns) >= mostOfSession {
		return false
	}
	if s == nil {
		s = &session{hash: c.hash, conns: map[*conn]bool{}}
		h.byHash[c.hash] = s
	}
	c.session = s
	s.conns[c] = true
	if number != 0 {
		h.bindLocked(s, number)
	}
	return true
}

// bind tells which conversation a session is, when it has one.
func (h *hub) bind(s *session, number int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.bindLocked(s, number)
}

func (h *hub) bindLocked(s *session, number int64) {
	s.number.Store(number)
	if len(s.conns) > 0 {
		h.byNumber[number] = s
	}
}

// leave takes a connection out.
func (h *hub) leave(c *conn) {
	c.session.live.CompareAndSwap(c, nil)
	h.mu.Lock()
	defer h.mu.Unlock()
	s := c.session
	delete(s.conns, c)
	if len(s.conns) == 0 {
		delete(h.byHash, s.hash)
		delete(h.byNumber, s.number.Load())
	}
}

// each calls a function for every connection of a conversation.
func (h *hub) each(number int64, do func(*conn)) {
	for _, c := range h.of(number) {
		do(c)
	}
}

func (h *hub) of(number int64) (out []*conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s := h.byNumber[number]; s != nil {
		for c := range s.conns {
			out = append(out, c)
		}
	}
	return out
}

// all lists every connection.
func (h *hub) all() (out []*conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.byHash {
		for c := range s.conns {
			out = append(out, c)
		}
	}
	return out
}

// write notes a preview; without a text that is not blank it still tells that
// there is one.
func (h *hub) write(number int64, p preview) {
	h.mu.Lock()
	h.previews[number] = p
	h.mu.Unlock()
	h.each(number, func(c *conn) { c.mark(dirtyPreview) })
}

// written is the preview of a generation; false if there is none.
func (h *hub) written(number int64) (preview, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p, found := h.previews[number]
	return p, found
}

// settle drops a preview that is not of the generation in flight.
func (h *hub) settle(number int64, inFlight conversation.Generation) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p, found := h.previews[number]; found && p.generation != inFlight {
		delete(h.previews, number)
	}
}

const (
	takeTries = 6 // of a newcomer, while the connection before it is closing
	takePause = 150 * time.Millisecond
	lifeSign  = time.Second // a holder that does not answer a ping by then is a zombie
)

// take makes a connection the one of its session; false if the session is alive
// in another window. A refresh, whose old connection is still closing, is
// absorbed by a few tries. A zombie is replaced. With force the holder is,
// whatever it is.
func (s *session) take(ctx context.Context, c *conn, force bool) bool {
	for range takeTries {
		holder := s.live.Load()
		if holder == nil && s.live.CompareAndSwap(nil, c) {
			return true
		}
		if force && holder != nil && s.live.CompareAndSwap(holder, c) {
			holder.end(closeElsewhere, "taken over by another window")
			return true
		}
		if force {
			continue
		}
		select {
		case <-ctx.Done():
			return false
		case <-time.After(takePause):
		}
	}
	holder := s.live.Load()
	if holder == nil {
		return s.live.CompareAndSwap(nil, c)
	}
	ping, cancel := context.WithTimeout(ctx, lifeSign)
	defer cancel()
	if holder.socket.Ping(ping) == nil || ctx.Err() != nil {
		return false
	}
	if s.live.CompareAndSwap(holder, c) {
		holder.end(closeElsewhere, "replaced: it did not answer")
		return true
	}
	return false
}
