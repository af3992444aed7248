package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	testToken = "123456789:AAsecretTokenForTests-0123456789abcd"
	testKey   = "sk-secret-key-for-tests"
)

// services are a Telegram and a model on loopback, for one bot.
type services struct {
	t        *testing.T
	telegram *httptest.Server
	model    *httptest.Server
	updates  chan string // raw updates, in order
	shown    chan string // texts that the bot sent
	asked    chan string // last prompt message of each model call

	mu      sync.Mutex
	pending []pendingUpdate
	ids     int
}

type pendingUpdate struct {
	id  int
	raw string
}

func newServices(t *testing.T) *services {
	s := &services{t: t, updates: make(chan string, 10), shown: make(chan string, 10), asked: make(chan string, 10), ids: 100}
	s.telegram = httptest.NewServer(http.HandlerFunc(s.serveTelegram))
	s.model = httptest.NewServer(http.HandlerFunc(s.serveModel))
	t.Cleanup(s.telegram.Close)
	t.Cleanup(s.model.Close)
	return s
}

func (s *services) serveTelegram(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+testToken+"/")
	if !ok {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"ok":false,"error_code":401,"description":"Unauthorized"}`)
		return
	}
	var result any = true
	switch method {
	case "getMe":
		result = map[string]any{"id": 123456789, "is_bot": true, "first_name": "L", "username": "l_bot"}
	case "getUpdates":
		var p struct{ Offset int }
		_ = json.NewDecoder(r.Body).Decode(&p)
		result = s.poll(r.Context(), p.Offset)
	case "sendMessage":
		s.mu.Lock()
		s.ids++
		result = map[string]any{"message_id": s.ids, "date": 1, "chat": map[string]any{"id": 7, "type": "private"}}
		s.mu.Unlock()
		s.shown <- r.FormValue("text")
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"ok": true, "result": result})
}

// poll holds the request until there is an update above the offset.
func (s *services) poll(ctx context.Context, offset int) []json.RawMessage {
	out := []json.RawMessage{}
	s.mu.Lock()
	for _, u := range s.pending {
		if u.id >= offset {
			out = append(out, json.RawMessage(u.raw))
		}
	}
	s.mu.Unlock()
	if len(out) > 0 {
		return out
	}
	select {
	case raw := <-s.updates:
		var u struct {
			ID int `json:"update_id"`
		}
		_ = json.Unmarshal([]byte(raw), &u)
		s.mu.Lock()
		s.pending = append(s.pending, pendingUpdate{u.ID, raw})
		s.mu.Unlock()
		out = append(out, json.RawMessage(raw))
	case <-ctx.Done():
	}
	return out
}

func (s *services) serveModel(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+testKey {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"bad key","code":"invalid_api_key"}}`)
		return
	}
	if strings.HasSuffix(r.URL.Path, "/models") {
		fmt.Fprint(w, `{"data":[{"id":"test-model"}]}`)
		return
	}
	var p struct {
		Messages []struct{ Role, Content string }
	}
	_ = json.NewDecoder(r.Body).Decode(&p)
	last := p.Messages[len(p.Messages)-1].Content
	s.asked <- last
	w.Header().Set("Content-Type", "text/event-stream")
	text, _ := json.Marshal("echo **" + last + "**")
	fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%s}}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n", text)
}

func (s *services) say(update int, text string) {
	s.mu.Lock()
	s.ids++
	id := s.ids
	s.mu.Unlock()
	s.updates <- fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"date":1,"chat":{"id":7,"type":"private"},"from":{"id":7,"first_name":"A","language_code":"en"},"text":%q}}`, update, id, text)
}

func (s *services) config(dir, key string) string {
	file := filepath.Join(dir, "config.yaml")
	text := fmt.Sprintf(`
telegram: {token: %q, api_url: %q, poll_timeout: 1s}
access: {open: true}
llm: {base_url: %q, api_key: %q, model: test-model}
turn: {debounce: 5ms}
storage: {path: %q}
log: {level: debug}
`, testToken, s.telegram.URL, s.model.URL+"/v1", key, filepath.Join(dir, "lastword.db"))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// safeBuffer is a log that a process writes and a test reads.
type safeBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *safeBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}

// process runs the program until stop is called, which returns its status.
func process(file string, log io.Writer) (stop func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	status := make(chan int, 1)
	go func() { status <- command(ctx, []string{"--config", file}, log, log) }()
	return func() int { cancel(); return <-status }
}

func receive(t *testing.T, from chan string) string {
	t.Helper()
	select {
	case s := <-from:
		return s
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
		return ""
	}
}

func TestEndToEnd(t *testing.T) {
	s := newServices(t)
	file := s.config(t.TempDir(), testKey)
	log := &safeBuffer{}
	stop := process(file, log)
	s.say(1, "a private question")
	if got := receive(t, s.asked); got != "a private question" {
		t.Errorf("the model was asked %q", got)
	}
	if got := receive(t, s.shown); got != "echo a private question" {
		t.Errorf("the person saw %q", got)
	}

	second := &safeBuffer{}
	if code := process(file, second)(); code == 0 || !strings.Contains(second.text(), "lastword.db") {
		t.Errorf("a second process ended with %d and %q", code, second.text())
	}
	if code := stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}

	stop = process(file, log) // Telegram brings nothing that was confirmed; the rest is known
	s.say(2, "another one")
	receive(t, s.asked)
	if got := receive(t, s.shown); got != "echo another one" {
		t.Errorf("after a restart the person saw %q", got)
	}
	if code := stop(); code != 0 {
		t.Errorf("ended with %d", code)
	}
	for _, secret := range []string{testToken, testKey, "private question", "another one", "echo"} {
		if strings.Contains(log.text(), secret) {
			t.Errorf("I8: the log holds %q", secret)
		}
	}
	if len(s.shown) > 0 || len(s.asked) > 0 {
		t.Errorf("I2: %d more messages, %d more calls", len(s.shown), len(s.asked))
	}
}

func TestRefusedTokenEndsTheProcess(t *testing.T) {
	s := newServices(t)
	file := s.config(t.TempDir(), testKey)
	data, _ := os.ReadFile(file)
	wrong := strings.ReplaceAll(string(data), "AAsecret", "BBsecret")
	if err := os.WriteFile(file, []byte(wrong), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if code := command(t.Context(), []string{"--config", file}, &out, &out); code == 0 || !strings.Contains(out.String(), "telegram.token") {
		t.Errorf("ended with %d and %q", code, out.String())
	}
	if strings.Contains(out.String(), "BBsecret") {
		t.Error("I8: the output holds the token")
	}
}

func TestCheck(t *testing.T) {
	s := newServices(t)
	var out bytes.Buffer
	if code := command(t.Context(), []string{"check", "--config", s.config(t.TempDir(), testKey)}, &out, &out); code != 0 {
		t.Errorf("all is well, but check ended with %d:\n%s", code, out.String())
	}
	out.Reset()
	code := command(t.Context(), []string{"check", "--config", s.config(t.TempDir(), "sk-wrong")}, &out, &out)
	if code == 0 || !strings.Contains(out.String(), "llm.api_key") || strings.Contains(out.String(), "sk-wrong") {
		t.Errorf("a wrong key: check ended with %d:\n%s", code, out.String())
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]int{"version": 0, "help": 0, "--help": 0, "unknown": 2, "--unknown": 2, "check extra": 2, "--config /no/such/file": 1} {
		var out bytes.Buffer
		if code := command(t.Context(), strings.Fields(args), &out, &out); code != want || out.Len() == 0 {
			t.Errorf("lastword %s ended with %d, want %d:\n%s", args, code, want, out.String())
		}
	}
}
