package web

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"
)

// conn is one WebSocket. One goroutine reads and carries out what the page asks
// for, one writes, one sees to it that the page is still there.
type conn struct {
	server   *Server
	socket   *websocket.Conn
	session  *session
	hash     string // of the session's secret
	id       string
	owner    bool
	language string
	frames   *rate.Limiter // of any kind
	messages *rate.Limiter // of what has to be stored

	wake   chan struct{}
	cancel context.CancelFunc

	mu       sync.Mutex
	queue    [][]byte // answers to this page only
	dirty    dirt
	cursor   int64 // newest sequence number that the page has
	watching bool  // the inspector is open

	// The writer's own: what was written last.
	lastState, lastInspect string
	lastPreview            preview
}

// dirt is what a page may not have yet.
type dirt int

const (
	dirtyLog dirt = 1 << iota
	dirtyState
	dirtyPreview
)

const (
	readLimit     = 256 << 10 // bytes in a frame; a larger one closes the socket (1009)
	helloPatience = 5 * time.Second
	writePatience = 10 * time.Second
	heartbeat     = 20 * time.Second // between two pings
	pongPatience  = 10 * time.Second
	mostQueued    = 256 // answers that a page has not read
	pageSize      = 100 // messages in a history frame
)

// mark tells the writer that there is something new.
func (c *conn) mark(what dirt) {
	c.mu.Lock()
	c.dirty |= what
	c.mu.Unlock()
	c.nudge()
}

func (c *conn) nudge() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// send queues an answer. A page that reads none is let go.
func (c *conn) send(frame any) {
	data := encode(frame)
	c.mu.Lock()
	full := len(c.queue) >= mostQueued
	if !full {
		c.queue = append(c.queue, data)
	}
	c.mu.Unlock()
	if full {
		c.cancel()
		return
	}
	c.nudge()
}

// end closes the socket with a code, without waiting for that. The goroutine
// whose end would end the connection uses refuse instead: the page is to hear
// why first.
func (c *conn) end(code websocket.StatusCode, reason string) {
	c.server.closing.Go(func() {
		_ = c.socket.Close(code, reason) // that it is closed already is as good
		c.cancel()
	})
}

// run serves the connection until it ends.
func (c *conn) run(ctx context.Context) {
	ctx, c.cancel = context.WithCancel(ctx)
	defer c.cancel()
	defer func() { _ = c.socket.CloseNow() }()
	c.socket.SetReadLimit(readLimit)
	hello, ok := c.hello(ctx)
	if !ok {
		return
	}
	number, err := c.server.find(c.hash)
	if err != nil {
		c.server.log.Error("a session cannot be read", "err", err)
		c.refuse(websocket.StatusTryAgainLater, "the session cannot be read")
		return
	}
	if !c.server.hub.join(c, number) {
		c.refuse(websocket.StatusTryAgainLater, "too many connections")
		return
	}
	defer c.server.hub.leave(c)
	var group sync.WaitGroup
	defer group.Wait()
	defer c.cancel()
	requests := make(chan request, 64)                           // what is stored takes a while; pings must not
	group.Go(func() { defer c.cancel(); c.read(ctx, requests) }) // also so that pings are answered while it is decided who may stay
	if c.server.config.Connections == Exclusive && !c.session.take(ctx, c, hello.TakeOver) {
		c.refuse(closeElsewhere, "open in another window")
		return
	}
	c.greet(hello)
	group.Go(func() { defer c.cancel(); c.writeAll(ctx) })
	group.Go(func() { defer c.cancel(); c.beat(ctx) })
	for {
		select {
		case r := <-requests:
			c.server.handle(ctx, c, r)
		case <-ctx.Done():
			return
		}
	}
}

// refuse closes a connection that is not wanted, and waits, some seconds at
// most, for the page to hear it.
func (c *conn) refuse(code websocket.StatusCode, reason string) { _ = c.socket.Close(code, reason) }

// hello reads the first frame.
func (c *conn) hello(ctx context.Context) (request, bool) {
	ctx, cancel := context.WithTimeout(ctx, helloPatience)
	defer cancel()
	var r request
	_, data, err := c.socket.Read(ctx)
	if err != nil {
		return r, false
	}
	if json.Unmarshal(data, &r) != nil || r.V != protocolVersion || r.Type != "hello" || r.After < 0 || len(r.Language) > 35 {
		c.refuse(closeProtocol, "the first frame must be a hello of version 1")
		return r, false
	}
	c.language = r.Language
	return r, true
}

// greet answers a hello. The history after what the page has follows.
func (c *conn) greet(hello request) {
	last, err := c.server.last(c.session.number.Load())
	if err != nil {
		c.server.log.Error("a session cannot be read", "err", err)
	}
	w := welcome{
		head: of("welcome"), Connection: c.id, Session: hashed("session " + c.hash)[:16], Last: last, OnNewMessage: c.server.turn.OnNewMessage,
		Connections: c.server.config.Connections, MaxMessage: c.server.config.MaxMessage, Inspector: c.owner,
	}
	fresh := hello.After > last || hello.Session != "" && hello.Session != w.Session
	if fresh {
		hello.After = 0
	}
	c.mu.Lock()
	c.cursor = hello.After
	c.mu.Unlock()
	c.send(w)
	if fresh { // what the page has is of a session that this is not
		c.send(history{head: of("history"), Messages: []shown{}, Fresh: true})
	}
	c.mark(dirtyLog | dirtyState | dirtyPreview)
}

// read decodes frames until the socket ends. One that makes no sense, or far
// too many, end it.
func (c *conn) read(ctx context.Context, to chan<- request) {
	for {
		kind, data, err := c.socket.Read(ctx)
		if err != nil {
			return
		}
		var r request
		switch {
		case !c.frames.Allow():
			c.refuse(closeTooFast, "too many frames")
			return
		case kind != websocket.MessageText || json.Unmarshal(data, &r) != nil || r.V != protocolVersion:
			c.refuse(closeProtocol, "not a frame of version 1")
			return
		}
		select {
		case to <- r:
		case <-ctx.Done():
			return
		}
	}
}

// beat pings the page, so that a half-open connection is found by both sides.
func (c *conn) beat(ctx context.Context) {
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		ping, cancel := context.WithTimeout(ctx, pongPatience)
		err := c.socket.Ping(ping)
		cancel()
		if err != nil {
			return
		}
	}
}

// writeAll writes what there is until the connection ends.
func (c *conn) writeAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.wake:
		}
		if err := c.flush(ctx); err != nil {
			if !errors.Is(err, errGone) {
				c.server.log.Error("a session cannot be shown", "err", err)
				c.refuse(websocket.StatusTryAgainLater, "the session cannot be read")
			}
			return
		}
	}
}

var errGone = errors.New("the page is gone")

func (c *conn) write(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, writePatience)
	defer cancel()
	if c.socket.Write(ctx, websocket.MessageText, data) != nil {
		return errGone
	}
	return nil
}

// flush writes answers first, then what the log has after the cursor, then what
// the engine is doing: so a page never hears that all is done before it has the
// answer.
func (c *conn) flush(ctx context.Context) error {
	c.mu.Lock()
	queue, dirty, watching := c.queue, c.dirty, c.watching
	c.queue, c.dirty = nil, 0
	c.mu.Unlock()
	for _, data := range queue {
		if err := c.write(ctx, data); err != nil {
			return err
		}
	}
	if dirty&dirtyLog != 0 {
		if err := c.tail(ctx); err != nil {
			return err
		}
	}
	if dirty&dirtyState != 0 {
		if err := c.tellState(ctx, watching); err != nil {
			return err
		}
	}
	return c.tellPreview(ctx)
}

// tail writes what the page does not have of the log. Everything that is shown
// comes this way, so its order is the store's.
func (c *conn) tail(ctx context.Context) error {
	number := c.session.number.Load()
	for number != 0 {
		c.mu.Lock()
		after := c.cursor
		c.mu.Unlock()
		entries, more, err := c.server.changes(number, after, pageSize)
		if err != nil || len(entries) == 0 {
			return err
		}
		h := history{head: of("history"), Messages: []shown{}, More: more}
		for _, e := range entries {
			h.Last = max(h.Last, e.Seq)
			if !e.Hidden {
				h.Messages = append(h.Messages, e.shown)
			}
		}
		if err := c.write(ctx, encode(h)); err != nil {
			return err
		}
		c.mu.Lock()
		if c.cursor == after { // the page may have asked for more
			c.cursor = h.Last
		}
		c.mu.Unlock()
	}
	return nil
}

// tellState writes what the engine is doing, if that has changed.
func (c *conn) tellState(ctx context.Context, watching bool) error {
	number := c.session.number.Load()
	view, err := c.server.look(number, watching)
	if err != nil {
		return err
	}
	c.server.hub.settle(number, view.inFlight)
	if data := encode(view.state); string(data) != c.lastState {
		c.lastState = string(data)
		if err := c.write(ctx, data); err != nil {
			return err
		}
	}
	if !watching {
		return nil
	}
	data := encode(view.inspection)
	if same := string(data); same != c.lastInspect {
		c.lastInspect = same
		return c.write(ctx, encode(timed{view.inspection, time.Now()}))
	}
	return nil
}

// tellPreview writes the newest preview, if the page does not have it.
func (c *conn) tellPreview(ctx context.Context) error {
	p, found := c.server.hub.written(c.session.number.Load())
	if !found || p == c.lastPreview {
		return nil
	}
	c.lastPreview = p
	return c.write(ctx, encode(previewed{of("preview"), p.generation, p.text}))
}
