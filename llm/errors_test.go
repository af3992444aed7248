package llm

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"lastword/conversation"
)

func TestStatuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		body   string
		kind   conversation.ModelErrorKind
		text   string // in the error
	}{
		{"wrong key", 401, `{"error":{"code":"invalid_api_key","message":"Incorrect API key provided: sk-x"}}`, conversation.Denied, "401 (invalid_api_key): check llm.api_key"},
		{"forbidden", 403, `{"error":{"message":"Country not supported"}}`, conversation.Denied, "403"},
		{"no credit", 402, `{"error":{"code":402,"message":"Insufficient credits"}}`, conversation.Denied, "402"},
		{"quota", 429, `{"error":{"type":"insufficient_quota","code":"insufficient_quota","message":"You exceeded your quota"}}`, conversation.Denied, "429 (insufficient_quota)"},
		{"rate limit", 429, `{"error":{"type":"requests","code":"rate_limit_exceeded"}}`, conversation.Temporary, "429 (rate_limit_exceeded, requests)"},
		{"rate limit of tokens", 429, `{"error":{"message":"too many tokens per minute"}}`, conversation.Temporary, "429"},
		{"request timeout", 408, "", conversation.Temporary, "408"},
		{"conflict", 409, "", conversation.Temporary, "409"},
		{"server error", 500, `{"error":{"type":"server_error"}}`, conversation.Temporary, "500 (server_error)"},
		{"gateway page", 502, page, conversation.Temporary, "502"},
		{"overloaded", 503, `{"error":{"code":"overloaded"}}`, conversation.Temporary, "503 (overloaded)"},
		{"overloaded, Anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, conversation.Temporary, "529"},
		{"context code", 400, `{"error":{"code":"context_length_exceeded","message":"x"}}`, conversation.ContextTooBig, "400 (context_length_exceeded)"},
		{"context text, OpenAI", 400, `{"error":{"message":"This model's maximum context length is 8192 tokens."}}`, conversation.ContextTooBig, "400"},
		{"context text, vLLM", 400, `{"object":"error","message":"This model's maximum context length is 8192","code":400}`, conversation.ContextTooBig, "400"},
		{"context text, llama.cpp", 500, `{"error":{"code":500,"message":"the request exceeds the available context size"}}`, conversation.ContextTooBig, "500"},
		{"context text, Anthropic", 400, `{"error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`, conversation.ContextTooBig, "400"},
		{"context text, Gemini", 400, `[{"error":{"code":400,"message":"The input token count exceeds the maximum number of tokens allowed","status":"INVALID_ARGUMENT"}}]`, conversation.ContextTooBig, "400"},
		{"context text, FastAPI", 400, `{"detail":"Too many tokens"}`, conversation.ContextTooBig, "400"},
		{"context text, string", 400, `{"error":"Requested tokens exceed context window of 2048"}`, conversation.ContextTooBig, "400"},
		{"context text, OpenRouter", 400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"maximum context length\"}}"}}}`, conversation.ContextTooBig, "400"},
		{"too large", 413, "", conversation.ContextTooBig, "413"},
		{"the prompt echoed is not a reason", 422, `{"detail":[{"loc":["body","x"],"msg":"Field required","input":{"messages":"context window"}}]}`, conversation.Rejected, "422"},
		{"bad request", 400, `{"error":{"type":"invalid_request_error","message":"no"}}`, conversation.Rejected, "400 (invalid_request_error)"},
		{"limit field", 400, `{"error":{"message":"Use 'max_completion_tokens' instead.","code":"unsupported_parameter"}}`, conversation.Rejected, "llm.max_tokens_field"},
		{"temperature", 400, `{"error":{"message":"Unsupported value","param":"temperature"}}`, conversation.Rejected, "llm.temperature"},
		{"no such model", 404, `{"error":{"code":"model_not_found"}}`, conversation.Rejected, "404 (model_not_found): check llm.model"},
		{"string", 404, `{"error":"model 'x' not found"}`, conversation.Rejected, "404"},
		{"redirect", 301, "", conversation.Rejected, "llm.base_url"},
		{"nonsense", 400, `{"error":{"code":["a"],"type":{},"message":7}}`, conversation.Rejected, "400"},
		{"no content", 204, "", conversation.Temporary, "nothing that is an answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := New(testConfig(), nil, replying(tt.status, tt.body)).Generate(t.Context(), hello, nil)
			if kindOf(err) != tt.kind || !strings.Contains(fmt.Sprint(err), tt.text) {
				t.Errorf("got %v; want kind %q and %q", err, tt.kind, tt.text)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		date := func(d time.Duration) string { return time.Now().Add(d).UTC().Format(http.TimeFormat) }
		for _, tt := range []struct {
			name, value string
			want        time.Duration
		}{
			{"Retry-After", "2", 2 * time.Second},
			{"Retry-After", " 1.5 ", 1500 * time.Millisecond},
			{"retry-after-ms", "250", 250 * time.Millisecond},
			{"Retry-After", date(time.Minute), time.Minute},
			{"Retry-After", date(-time.Minute), 0},
			{"Retry-After", date(1000 * time.Hour), 24 * time.Hour},
			{"Retry-After", "1e300", 24 * time.Hour},
			{"Retry-After", "-5", 0},
			{"Retry-After", "NaN", 0},
			{"Retry-After", "soon", 0},
			{"X-Other", "2", 0},
		} {
			_, err := New(testConfig(), nil, replying(429, "", tt.name, tt.value)).Generate(t.Context(), hello, nil)
			var m *conversation.ModelError
			if !errors.As(err, &m) || m.Kind != conversation.Temporary || m.RetryAfter != tt.want {
				t.Errorf("%s: %s gives %#v, want %v", tt.name, tt.value, m, tt.want)
			}
		}
	})
}

func TestNetworkErrors(t *testing.T) {
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for want, cause := range map[string]error{
		"does not resolve":   dial(&net.DNSError{Err: "no such host", Name: "llm.test", IsNotFound: true}),
		"connection refused": dial(syscall.ECONNREFUSED),
		"connection lost":    &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		"certificate":        &tls.CertificateVerificationError{Err: errors.New("x")},
		"TLS":                http.ErrSchemeMismatch,
		"timeout":            dial(timeoutError{}),
		"broke off":          io.EOF,
		"(*errors.":          errors.New("malformed HTTP response " + testKey),
	} {
		client := New(testConfig(), nil, transport(func(*http.Request) (*http.Response, error) { return nil, cause }))
		_, err := client.Generate(t.Context(), hello, nil)
		if kindOf(err) != conversation.Temporary || !strings.Contains(err.Error(), want) {
			t.Errorf("%v gives %v, want %q", cause, err, want)
		}
	}
}

type timeoutError struct{}

func (timeoutError) Error() string   { return "i/o timeout" }
func (timeoutError) Timeout() bool   { return true }
func (timeoutError) Temporary() bool { return true }

// said is a text of a user or a model that must not get into an error.
const said = "My Private Words"

// hostile draws a body whose every text is the key or what somebody said.
func hostile(t *rapid.T) string {
	texts := rapid.SampledFrom([]string{said, testKey, testKey[3:], "Bearer " + testKey, strings.ToUpper(testKey), said + " maximum context length", `{"error":"` + said + `"}`})
	words := func() string {
		s, _ := json.Marshal(texts.Draw(t, "text"))
		return string(s)
	}
	object := func() string {
		return `{"message":` + words() + `,"code":` + words() + `,"type":` + words() + `,"param":` + words() + `,"status":` + words() + `,"metadata":{"raw":` + words() + `}}`
	}
	body := rapid.SampledFrom([]string{
		`{"error":` + object() + `}`, `{"error":` + words() + `}`, `[{"error":` + object() + `}]`, object(),
		`{"detail":[{"loc":["body",` + words() + `],"msg":` + words() + `,"input":` + words() + `}]}`, `{"detail":` + words() + `}`,
		"<html>" + said + testKey + "</html>", said, testKey, words(),
		`{"choices":[{"message":{"content":` + words() + `},"finish_reason":` + words(), `{` + said, `{"choices":` + words() + `}`,
		`{"choices":[{"delta":{"content":` + words() + `}}]}`, `{"choices":[{"finish_reason":"error","error":` + object() + `}]}`,
	}).Draw(t, "body")
	before := rapid.SampledFrom([]string{"", "data: ", "event: error\ndata: ", "error: ", ": " + said + "\n\ndata: ", says(said) + "data: "}).Draw(t, "before")
	return before + body + rapid.SampledFrom([]string{"", "\n\n"}).Draw(t, "after")
}

// secretive fails if an error, anywhere in its chain, or the log tells what it
// must not.
func secretive(t interface{ Fatalf(string, ...any) }, err error, log string) {
	var all strings.Builder
	all.WriteString(log)
	for e := err; e != nil; e = errors.Unwrap(e) {
		fmt.Fprintf(&all, "%v\n%+v\n%#v\n%q\n", e, e, e, e)
	}
	for _, secret := range []string{said, testKey, testKey[3:]} {
		if strings.Contains(strings.ToLower(all.String()), strings.ToLower(secret)) {
			t.Fatalf("%q is in %s", secret, all.String())
		}
	}
}

func TestErrorsTellNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := hostile(t)
		status := rapid.SampledFrom([]int{200, 200, 200, 301, 400, 401, 402, 403, 404, 422, 429, 500, 503}).Draw(t, "status")
		next := replying(status, body, "Location", "://"+said, "Retry-After", said, "Content-Type", said)
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			next = func(r *http.Request) (*http.Response, error) {
				return nil, &url.Error{Op: testKey, URL: r.URL.String() + testKey, Err: errors.New(said + r.Header.Get("Authorization"))}
			}
		}
		var log bytes.Buffer
		client := New(testConfig(), slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})), next)
		_, err := client.Generate(t.Context(), []conversation.PromptMessage{{Role: conversation.User, Text: said}}, nil)
		secretive(t, err, log.String())
		secretive(t, client.Check(t.Context()), log.String())
	})
}

func TestKeyIsNotPrinted(t *testing.T) {
	cfg := testConfig()
	client := New(cfg, nil, nil)
	defer client.Close()
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "cfg", cfg, "client", client, "key", cfg.APIKey)
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "cfg", cfg, "client", client, "key", cfg.APIKey)
	for _, v := range []any{cfg, &cfg, client, cfg.APIKey, &cfg.APIKey, []Secret{cfg.APIKey}, struct{ C Config }{cfg}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&log, verb+"\n", v)
		}
	}
	for _, form := range []string{testKey, fmt.Sprintf("%x", testKey)} {
		if strings.Contains(log.String(), form) {
			t.Errorf("the key is in %s", log.String())
		}
	}
}
