package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/synctest"

	"github.com/coder/websocket"
)

// page is a plain client of the protocol.
type page struct {
	w      *webWorld
	socket *websocket.Conn
	raw    net.Conn
	done   chan struct{}

	mu     sync.Mutex
	frames []frame
	closed error
	seq    int64
}

type frame struct {
	Type     string
	raw      string
	ClientID string `json:"client_msg_id"`
	Code     string
	ID       int64
	Position int
	Together bool
	Dup      bool `json:"duplicate"`
	Text     string
	Phase    string
	Session  string
	Last     int64
	Fresh    bool
	Waiting  []int64
	Buffered []int64
	Messages []shownMessage
}

type shownMessage struct {
	ID, Seq  int64
	From     string
	Text     string
	ClientID string `json:"client_msg_id"`
	Gone     bool
	Edited   bool
	Quotes   int64
	Buttons  []struct {
		Do   string
		Page int
	}
}

// dialPage connects with the cookie of the world's browser, and keeps what the
// first handshake sets.
func (w *webWorld) dialPage(origin string) (*websocket.Conn, *http.Response, net.Conn, error) {
	header := http.Header{"Origin": {origin}}
	if w.cookie != "" {
		header.Set("Cookie", "lastword="+w.cookie)
	}
	var raw net.Conn
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		c, err := w.dial(ctx)
		raw = c
		return c, err
	}}
	socket, response, err := websocket.Dial(w.t.Context(), "ws://127.0.0.1:8080/socket",
		&websocket.DialOptions{HTTPClient: &http.Client{Transport: transport}, HTTPHeader: header})
	if err != nil {
		transport.CloseIdleConnections()
	}
	if response != nil {
		for _, c := range response.Cookies() {
			if c.Name == "lastword" {
				w.cookie = c.Value
			}
		}
	}
	return socket, response, raw, err
}

// open connects and says hello.
func (w *webWorld) open(after int64, takeOver bool) *page {
	w.t.Helper()
	socket, _, raw, err := w.dialPage(webOrigin)
	if err != nil {
		w.t.Fatal(err)
	}
	socket.SetReadLimit(1 << 20)
	p := &page{w: w, socket: socket, raw: raw, done: make(chan struct{})}
	w.pages = append(w.pages, p)
	p.send(map[string]any{"type": "hello", "after": after, "take_over": takeOver, "language": "en"})
	go p.read()
	synctest.Wait()
	return p
}

func (p *page) read() {
	defer close(p.done)
	for {
		_, data, err := p.socket.Read(context.Background())
		p.mu.Lock()
		if err != nil {
			p.closed = err
			p.mu.Unlock()
			return
		}
		f := frame{raw: string(data)}
		_ = json.Unmarshal(data, &f)
		p.frames = append(p.frames, f)
		if f.Type == "history" {
			p.seq = f.Last
		}
		p.mu.Unlock()
	}
}

func (p *page) send(f map[string]any) {
	p.w.t.Helper()
	f["v"] = 1
	data, _ := json.Marshal(f)
	if err := p.socket.Write(p.w.t.Context(), websocket.MessageText, data); err != nil {
		p.w.t.Errorf("sending %s: %v", f["type"], err)
	}
}

func (p *page) say(id, text string) {
	p.w.t.Helper()
	p.send(map[string]any{"type": "message", "client_msg_id": id, "text": text})
	synctest.Wait()
}

// cut ends the connection as a network that is gone does: nobody hears of it.
func (p *page) cut() {
	_ = p.raw.Close()
	_ = p.socket.CloseNow()
	<-p.done
}

// of lists the frames of a type that have come.
func (p *page) of(kind string) (out []frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.frames {
		if f.Type == kind {
			out = append(out, f)
		}
	}
	return out
}

// code is the close code that has come, -1 for none.
func (p *page) code() websocket.StatusCode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return websocket.CloseStatus(p.closed)
}

// screen is what the page shows: the newest state of each message, in order.
func (p *page) screen() []shownMessage {
	byID := map[int64]shownMessage{}
	for _, f := range p.of("history") {
		for _, m := range f.Messages {
			byID[m.ID] = m
		}
	}
	var out []shownMessage
	for _, m := range byID {
		if !m.Gone {
			out = append(out, m)
		}
	}
	slices.SortFunc(out, func(a, b shownMessage) int { return int(a.ID - b.ID) })
	return out
}

func (p *page) wantScreen(want ...string) {
	p.w.t.Helper()
	var got []string
	for _, m := range p.screen() {
		got = append(got, m.From+": "+m.Text)
	}
	if !slices.Equal(got, want) {
		p.w.t.Errorf("the page shows\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func (p *page) wantAcks(want ...string) {
	p.w.t.Helper()
	var got []string
	for _, f := range p.of("message_ack") {
		s := f.ClientID
		if f.Dup {
			s += " duplicate"
		}
		got = append(got, s)
	}
	for _, f := range p.of("message_nack") {
		got = append(got, f.ClientID+" "+f.Code)
	}
	if !slices.Equal(got, want) {
		p.w.t.Errorf("acknowledged %q, want %q", got, want)
	}
}

func lines(format string, n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(format, i+1))
	}
	return out
}
