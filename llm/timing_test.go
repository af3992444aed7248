package llm

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

// hang waits until the client is gone.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// every writes the same piece again and again until the client is gone.
func every(d time.Duration, piece string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			send(w, piece)
			time.Sleep(d)
		}
	}
}

func thought() string {
	return `data: {"choices":[{"delta":{"reasoning":"hm"}}]}` + "\n\n"
}

// slowness is what a service can do to a call, and when the call ends.
var slowness = []struct {
	name    string
	handler http.HandlerFunc
	why     error // nil for an answer
	after   time.Duration
}{
	{"no headers", hang, errNoFirst, 2 * time.Minute},
	{"headers only", func(w http.ResponseWriter, r *http.Request) { send(w, ""); hang(w, r) }, errNoFirst, 2 * time.Minute},
	{"comments only", every(time.Second, ": keep-alive\n\n"), errNoFirst, 2 * time.Minute},
	{"blank lines only", every(time.Second, "\n"), errNoFirst, 2 * time.Minute},
	{"empty pieces only", every(200*time.Millisecond, says("")), errNoFirst, 2 * time.Minute},
	{"stall", func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(100 * time.Second)
		send(w, says("a"))
		hang(w, r)
	}, errIdle, 160 * time.Second},
	{"empty pieces after some text", func(w http.ResponseWriter, r *http.Request) {
		send(w, says("a"))
		every(time.Second, says("")+": x\n")(w, r)
	}, errIdle, time.Minute},
	{"never ends", every(50*time.Second, says("a")), errTotal, 10 * time.Minute},
	{"never ends thinking", every(50*time.Second, thought()), errTotal, 10 * time.Minute},
	{"error body stalls", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		send(w, "{")
		hang(w, r)
	}, errNoFirst, 2 * time.Minute},
	{"slow but steady", func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(119 * time.Second)
		for range 5 {
			send(w, says("a"))
			time.Sleep(59 * time.Second)
		}
		send(w, done)
	}, nil, (119 + 5*59) * time.Second},
	{"long thoughts", func(w http.ResponseWriter, _ *http.Request) {
		for range 8 {
			time.Sleep(50 * time.Second)
			send(w, thought())
		}
		send(w, says("a")+done)
	}, nil, 400 * time.Second},
	{"comments before a slow answer", func(w http.ResponseWriter, _ *http.Request) {
		for range 1000 {
			send(w, ": OPENROUTER PROCESSING\n\n")
			time.Sleep(100 * time.Millisecond)
		}
		send(w, says("a")+ends("stop")+done)
	}, nil, 100 * time.Second},
	{"stays open after the finish reason", func(w http.ResponseWriter, r *http.Request) {
		send(w, says("a")+ends("stop"))
		every(time.Second, ": x\n")(w, r)
	}, nil, lingering},
}

func TestTimeouts(t *testing.T) {
	for _, tt := range slowness {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, err := New(testConfig(), nil, serve(t, tt.handler)).Generate(t.Context(), hello, nil)
				if took := time.Since(start); took < tt.after || took > tt.after+time.Second {
					t.Errorf("took %v, want %v", took, tt.after)
				}
				if tt.why != nil && (kindOf(err) != conversation.Temporary || !errors.Is(err, tt.why)) || tt.why == nil && err != nil {
					t.Errorf("got %q, %v; want %v", got.Text, err, tt.why)
				}
				synctest.Wait()
			})
		})
	}
}

func TestTimings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxConcurrent = 1
		client := New(cfg, nil, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			send(w, thought())
			time.Sleep(time.Second)
			send(w, says("a"))
			time.Sleep(time.Second)
			send(w, says("b")+done)
		}))
		var calls sync.WaitGroup
		for range 3 { // the second and third wait for a place, which does not count
			calls.Go(func() {
				got, err := client.Generate(t.Context(), hello, nil)
				if err != nil || got.FirstToken != 2*time.Second || got.Took != 3*time.Second {
					t.Errorf("got %+v, %v", got, err)
				}
			})
		}
		calls.Wait()
	})
}

// Whoever shows the text may be slow; that is not the service's silence.
func TestSlowProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := New(testConfig(), nil, replying(200, says("a")+says("b")+ends("stop")+done))
		got, err := client.Generate(t.Context(), hello, func(string) { time.Sleep(3 * time.Minute) })
		if err != nil || got.Text != "ab" {
			t.Errorf("got %q, %v", got.Text, err)
		}
	})
}

var errNewer = errors.New("newer input")

func TestCancel(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"before headers": hang,
		"before text":    func(w http.ResponseWriter, r *http.Request) { send(w, ": x\n"); hang(w, r) },
		"in the text":    func(w http.ResponseWriter, r *http.Request) { send(w, says("a")); hang(w, r) },
		"after the end":  func(w http.ResponseWriter, r *http.Request) { send(w, says("a")+ends("stop")); hang(w, r) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var gone atomic.Int64 // when the server saw the connection close
				start := time.Now()
				client := New(testConfig(), nil, serve(t, func(w http.ResponseWriter, r *http.Request) {
					handler(w, r)
					gone.Store(int64(time.Since(start)))
				}))
				ctx, cancel := context.WithCancelCause(t.Context())
				defer time.AfterFunc(time.Second, func() { cancel(errNewer) }).Stop()
				_, err := client.Generate(ctx, hello, nil)
				took := time.Since(start)
				synctest.Wait()
				if took != time.Second || time.Duration(gone.Load()) != time.Second {
					t.Errorf("returned after %v, closed the connection after %v", took, time.Duration(gone.Load()))
				}
				if !errors.Is(err, context.Canceled) || !errors.Is(err, errNewer) {
					t.Errorf("got %v", err)
				}
				if m := new(conversation.ModelError); errors.As(err, &m) {
					t.Errorf("got a model error: %v", err)
				}
				if errors.Is(err, conversation.ErrNotAsked) {
					t.Error("the request had left")
				}
			})
		})
	}
}

// TestNotAsked: a call that is cancelled before its request has left says so.
func TestNotAsked(t *testing.T) {
	for name, dial := range map[string]transport{
		"connecting": func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
		"queueing":   nil,
	} {
		synctest.Test(t, func(t *testing.T) {
			client := New(testConfig(), nil, dial)
			if dial == nil {
				for range cap(client.places) {
					client.places <- struct{}{}
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := client.Generate(ctx, hello, nil); !errors.Is(err, conversation.ErrNotAsked) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// A transport that knows nothing of contexts is cancelled by closing its body.
func TestCancelClosesBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body, _ := io.Pipe()
		client := New(testConfig(), nil, transport(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: body, Request: r}, nil
		}))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		_, err := client.Generate(ctx, hello, nil)
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if _, err := body.Read(nil); err != io.ErrClosedPipe {
			t.Errorf("the body is not closed: %v", err)
		}
	})
}

func TestConcurrencyCap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.MaxConcurrent = 2
		var running, most, served atomic.Int64
		client := New(cfg, nil, serve(t, func(w http.ResponseWriter, _ *http.Request) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second)
			running.Add(-1)
			served.Add(1)
			send(w, says("a")+done)
		}))
		start := time.Now()
		var calls sync.WaitGroup
		for range 6 {
			calls.Go(func() {
				if _, err := client.Generate(t.Context(), hello, nil); err != nil {
					t.Error(err)
				}
			})
		}
		// Who gives up in the queue takes no place and makes no request.
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		synctest.Wait()
		if _, err := client.Generate(ctx, hello, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		calls.Wait()
		if most.Load() != 2 || served.Load() != 6 || time.Since(start).Round(time.Second) != 3*time.Second {
			t.Errorf("%d at once, %d served in %v", most.Load(), served.Load(), time.Since(start))
		}
	})
}

// Places are free again after every kind of end.
func TestPlacesAreFreed(t *testing.T) {
	cfg := testConfig()
	cfg.MaxConcurrent = 1
	bodies := []string{says("a"), page, "", says("a") + done, `{"error":"x"}`, strings.Repeat("x", 100)}
	var n int
	client := New(cfg, nil, transport(func(r *http.Request) (*http.Response, error) {
		n++
		if n%7 == 0 {
			return nil, io.EOF
		}
		return replying(200+100*(n%4), bodies[n%len(bodies)])(r)
	}))
	for range 50 {
		_, _ = client.Generate(t.Context(), hello, nil)
	}
	if n != 50 || len(client.places) != 0 {
		t.Errorf("%d calls, %d places taken", n, len(client.places))
	}
}

// A connection is used again after an answer.
func TestConnectionReuse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pool := serve(t, func(w http.ResponseWriter, _ *http.Request) { send(w, says("a")+ends("stop")+done) }).(*http.Transport)
		dials := 0
		dial := pool.DialContext
		pool.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return dial(ctx, network, address)
		}
		client := New(testConfig(), nil, pool)
		for range 3 {
			if _, err := client.Generate(t.Context(), hello, nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if dials != 1 {
			t.Errorf("%d connections", dials)
		}
		client.Close()
	})
}
