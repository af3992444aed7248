//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// asProgram makes the test binary the program, for a process that can be
// suspended.
const asProgram = "LASTWORD_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// slowModel takes its time, and knows when its calls began and ended.
type slowModel struct {
	takes time.Duration
	began chan string // the last prompt message of each call

	mu    sync.Mutex
	calls []slowCall
}

type slowCall struct {
	start, end time.Time // end is zero while it is in flight
	whole      bool
}

func (m *slowModel) serve(w http.ResponseWriter, r *http.Request) {
	var p struct {
		Messages []struct{ Role, Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&p)
	last := p.Messages[len(p.Messages)-1].Content
	m.mu.Lock()
	n := len(m.calls)
	m.calls = append(m.calls, slowCall{start: time.Now()})
	takes := m.takes
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	write := func(event string) { fmt.Fprintf(w, "data: %s\n\n", event); w.(http.Flusher).Flush() }
	write(`{"choices":[{"delta":{"content":"echo "}}]}`)
	m.began <- last
	whole := false
	select {
	case <-time.After(takes):
		text, _ := json.Marshal(last)
		write(fmt.Sprintf(`{"choices":[{"delta":{"content":%s}}]}`, text))
		write(`{"choices":[{"delta":{},"finish_reason":"stop"}]}`)
		write(`[DONE]`)
		whole = true
	case <-r.Context().Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[n].end, m.calls[n].whole = time.Now(), whole
}

// hurry makes the calls to come quick.
func (m *slowModel) hurry() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.takes = 50 * time.Millisecond
}

// check is I4: a call begins when the one before has ended or was cancelled,
// which the model learns a moment later.
func (m *slowModel) check(t *testing.T) {
	t.Helper()
	const moment = 500 * time.Millisecond
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, c := range m.calls[1:] {
		before := m.calls[i]
		if before.end.IsZero() || before.whole && before.end.After(c.start) || before.end.After(c.start.Add(moment)) {
			t.Errorf("I4: call %d began at %v, while the one before ended at %v (whole: %v)", i+2, c.start, before.end, before.whole)
		}
	}
}

// program is a process of its own.
type program struct {
	t   *testing.T
	cmd *exec.Cmd
	log safeBuffer
}

func startProgram(t *testing.T, config string) *program {
	t.Helper()
	p := &program{t: t, cmd: exec.Command(os.Args[0], "--config", config)}
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.log, &p.log
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill() // also if it is suspended
		_ = p.cmd.Wait()
		if t.Failed() {
			t.Log(p.log.text())
		}
	})
	return p
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// sleep suspends the process for a while.
func (p *program) sleep(d time.Duration, meanwhile func()) {
	p.t.Helper()
	p.signal(syscall.SIGSTOP)
	meanwhile()
	time.Sleep(d)
	p.signal(syscall.SIGCONT)
}

// stop ends the process in order.
func (p *program) stop() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if err := p.cmd.Wait(); err != nil {
		p.t.Errorf("ended with %v", err)
	}
}

// TestSuspended suspends the process for three lease times: then it has slept
// through its own lease, and does not know. There is one reply all the same, at
// most one model call that is wanted, and nobody is stuck (I2, I4, I5).
func TestSuspended(t *testing.T) {
	if testing.Short() {
		t.Skip("a process has to sleep for some seconds")
	}
	const lease = time.Second
	for name, tt := range map[string]struct {
		takes time.Duration // the model, for the first answer
		more  string        // what is said while the process sleeps
		want  string
		send  time.Duration // how long Telegram takes to say that it has shown a message
	}{
		"the answer comes meanwhile":      {takes: lease, want: "echo one"},
		"the answer comes later":          {takes: 4 * lease, want: "echo one"},
		"somebody goes on writing":        {takes: lease, more: "two", want: "echo one\ntwo"},
		"while the answer is being shown": {takes: lease / 10, want: "echo one", send: lease / 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServices(t)
			model := &slowModel{takes: tt.takes, began: make(chan string, 20)}
			s.model.Config.Handler = http.HandlerFunc(model.serve)
			s.telegram.Config.Handler = s.slowly(tt.send)
			p := startProgram(t, s.leaseConfig(lease))
			s.say(1, "one")
			receive(t, model.began)
			model.hurry()
			shown := ""
			if tt.send > 0 {
				shown = receive(t, s.shown)
			}
			p.sleep(3*lease+200*time.Millisecond, func() {
				if tt.more != "" {
					s.say(2, tt.more)
				}
			})
			if shown == "" {
				shown = receive(t, s.shown)
			}
			if shown != tt.want {
				t.Errorf("shown %q, want %q", shown, tt.want)
			}
			s.say(3, "three")
			if got := receive(t, s.shown); got != "echo three" {
				t.Errorf("then shown %q", got)
			}
			p.stop()
			if len(s.shown) > 0 {
				t.Errorf("I2: then shown %q", <-s.shown)
			}
			model.check(t)
			if tt.more == "" && tt.send == 0 && !strings.Contains(p.log.text(), "lease_lost") {
				t.Error("the process has not slept through its lease")
			}
		})
	}
}

// slowly is the Telegram that takes its time to answer a send.
func (s *services) slowly(wait time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if wait == 0 || !strings.HasSuffix(r.URL.Path, "/sendMessage") {
			s.serveTelegram(w, r)
			return
		}
		answer := httptest.NewRecorder()
		s.serveTelegram(answer, r)
		time.Sleep(wait)
		_, _ = w.Write(answer.Body.Bytes())
	}
}

// leaseConfig is a configuration with a short lease.
func (s *services) leaseConfig(ttl time.Duration) string {
	file := s.config(s.t.TempDir(), testKey)
	data, err := os.ReadFile(file)
	text := strings.Replace(string(data), "debounce: 5ms", "debounce: 5ms, lease_ttl: "+ttl.String(), 1)
	if err := errors.Join(err, os.WriteFile(file, []byte(text), 0o600)); err != nil {
		s.t.Fatal(err)
	}
	return file
}
