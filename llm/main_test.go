package llm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lastword/conversation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testKey = "sk-verysecret-0123456789"

func testConfig() Config {
	cfg := Default()
	cfg.IdleTimeout = time.Minute
	cfg.BaseURL = "http://llm.test/v1"
	cfg.APIKey = testKey
	cfg.Model = "some-model"
	return cfg
}

var hello = []conversation.PromptMessage{{Role: conversation.User, Text: "hello"}}

// transport answers requests without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// replying answers every request with the same status and body.
func replying(status int, body string, header ...string) transport {
	return func(r *http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i+1 < len(header); i += 2 {
			h.Set(header[i], header[i+1])
		}
		return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// serve runs a real server and a real transport over in-memory pipes, which
// fake time understands.
func serve(t *testing.T, handler http.HandlerFunc) http.RoundTripper {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	var running sync.WaitGroup
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		_, _ = io.Copy(io.Discard, r.Body) // a server sees that its client left only after this
		handler(w, r)
	})}
	running.Go(func() { _ = server.Serve(l) })
	client := newTransport(8)
	client.DialContext = l.dial
	client.Proxy = nil
	client.HTTP2 = nil
	t.Cleanup(func() {
		client.CloseIdleConnections()
		_ = server.Close()
		running.Wait()
	})
	return client
}

type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error   { l.once.Do(func() { close(l.closed) }); return nil }
func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// send writes a piece of an answer at once.
func send(w http.ResponseWriter, s string) {
	_, _ = io.WriteString(w, s)
	w.(http.Flusher).Flush()
}

// kindOf is the kind of a model error, or what else the error is.
func kindOf(err error) conversation.ModelErrorKind {
	var m *conversation.ModelError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &m):
		return m.Kind
	default:
		return conversation.ModelErrorKind("not a model error: " + err.Error())
	}
}
