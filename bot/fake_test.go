package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lastword/conversation"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	testSecret = "AAtopsecret-_0123456789"
	testToken  = "42:" + testSecret
)

// fakeTelegram is the Bot API in memory. It works inside synctest bubbles,
// where sockets do not.
type fakeTelegram struct {
	mu      sync.Mutex
	calls   []call
	scripts map[string][]answer // by method; when used up: the default
	always  map[string]answer
}

// call is one request that arrived whole.
type call struct {
	method string
	params map[string]string
	at     time.Time
}

// answer is what becomes of a call. It is given the context of the request.
type answer func(ctx context.Context, c call) (*http.Response, error)

func newFake() *fakeTelegram {
	return &fakeTelegram{scripts: map[string][]answer{}, always: map[string]answer{
		"getMe":         result(`{"id":42,"is_bot":true,"first_name":"Last Word","username":"lastword_bot"}`),
		"getUpdates":    idle,
		"sendMessage":   result(`{"message_id":900,"date":1,"chat":{"id":7,"type":"private"},"text":"x"}`),
		"setMyCommands": result(`true`), "deleteWebhook": result(`true`), "sendChatAction": result(`true`),
		"editMessageReplyMarkup": fail(400, "Bad Request: message is not modified"),
		"answerCallbackQuery":    result(`true`), "deleteMessage": result(`true`),
	}}
}

// script sets what becomes of the next calls of a method.
func (f *fakeTelegram) script(method string, answers ...answer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.scripts[method] = append(f.scripts[method], answers...)
}

// of lists the calls of a method.
func (f *fakeTelegram) of(method string) (out []call) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.calls {
		if c.method == method {
			out = append(out, c)
		}
	}
	return out
}

// errNeverLeft ends a call before anything of it is read.
var errNeverLeft = errors.New("dial tcp: connection refused")

func (f *fakeTelegram) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	method := req.URL.Path[strings.LastIndex(req.URL.Path, "/")+1:]
	if !strings.HasPrefix(req.URL.Path, "/bot"+testToken+"/") {
		return nil, fmt.Errorf("wrong path %q", req.URL.Path)
	}
	f.mu.Lock()
	next := f.always[method]
	if s := f.scripts[method]; len(s) > 0 {
		next, f.scripts[method] = s[0], s[1:]
	}
	f.mu.Unlock()
	if next == nil {
		return nil, fmt.Errorf("the fake has no answer to %s", method)
	}
	if resp, err := next(nil, call{}); errors.Is(err, errNeverLeft) {
		return resp, fmt.Errorf("Post %q: %w", req.URL, err)
	}
	c := call{method, readParams(req), time.Now()}
	f.mu.Lock()
	f.calls = append(f.calls, c)
	f.mu.Unlock()
	return next(req.Context(), c)
}

func readParams(req *http.Request) map[string]string {
	out := map[string]string{}
	if req.Body == nil {
		return out
	}
	body, _ := io.ReadAll(req.Body)
	kind, attrs, _ := mime.ParseMediaType(req.Header.Get("Content-Type"))
	if kind == "multipart/form-data" {
		form, _ := multipart.NewReader(bytes.NewReader(body), attrs["boundary"]).ReadForm(1 << 20)
		for k, v := range form.Value {
			out[k] = v[0]
		}
		for k, v := range form.File {
			f, _ := v[0].Open()
			content, _ := io.ReadAll(f)
			out["file "+k] = string(content)
		}
		return out
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(body, &fields)
	for k, v := range fields {
		out[k] = strings.Trim(string(v), `"`)
	}
	return out
}

func respond(status int, body string) answer {
	return func(context.Context, call) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func result(body string) answer { return respond(200, `{"ok":true,"result":`+body+`}`) }

func fail(code int, description string) answer {
	return respond(code, fmt.Sprintf(`{"ok":false,"error_code":%d,"description":%q}`, code, description))
}

func flood(seconds int) answer {
	return respond(429, fmt.Sprintf(`{"ok":false,"error_code":429,"description":"Too Many Requests: retry after %d","parameters":{"retry_after":%d}}`, seconds, seconds))
}

func html(status int) answer { return respond(status, "<html>502 Bad Gateway</html>") }

func broken(err error) answer {
	return func(context.Context, call) (*http.Response, error) { return nil, err }
}

// hang answers never: a half-open connection.
func hang(ctx context.Context, _ call) (*http.Response, error) {
	if ctx == nil {
		return nil, nil
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// cut breaks the connection in the middle of the answer.
func cut(context.Context, call) (*http.Response, error) {
	body := io.MultiReader(strings.NewReader(`{"ok":true,"result":{"message_id":900,"text":"private wo`), brokenReader{})
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(body)}, nil
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// idle holds a poll for its timeout.
func idle(ctx context.Context, c call) (*http.Response, error) {
	if ctx == nil {
		return nil, nil
	}
	d, _ := time.ParseDuration(c.params["timeout"] + "s")
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(d):
	}
	return result(`[]`)(ctx, c)
}

// memory is a store of meta values.
type memory struct {
	mu   sync.Mutex
	meta map[string][]byte
	err  error // of writes
}

type memoryTx struct {
	conversation.Tx // nil: nothing else is used
	m               map[string][]byte
}

func (t memoryTx) Meta(name string) ([]byte, error)    { return t.m[name], nil }
func (t memoryTx) SetMeta(name string, v []byte) error { t.m[name] = v; return nil }
func (m *memory) View(fn func(conversation.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fn(memoryTx{m: maps.Clone(m.meta)})
}

func (m *memory) Update(fn func(conversation.Tx) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.meta == nil {
		m.meta = map[string][]byte{}
	}
	return fn(memoryTx{m: m.meta})
}

// rig is a bot with everything around it.
type rig struct {
	*Bot
	tg    *fakeTelegram
	store *memory
	log   *bytes.Buffer
}

func newRig(t testing.TB, access AccessConfig) *rig {
	t.Helper()
	return rigOn(t, access, &memory{})
}

func rigOn(t testing.TB, access AccessConfig, store *memory) *rig {
	t.Helper()
	cfg := DefaultConfig()
	cfg.Token = testToken
	r := &rig{tg: newFake(), store: store, log: &bytes.Buffer{}}
	logger := slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	if r.Bot, err = newBot(cfg, access, store, logger, r.tg, r.tg); err != nil {
		t.Fatal(err)
	}
	return r
}

func open() AccessConfig { return AccessConfig{Open: true} }

func key(chat int64) conversation.Key {
	return conversation.Key{Channel: Channel, Bot: 42, Chat: chat}
}
