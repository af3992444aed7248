package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	const list = `{"object":"list","data":[{"id":"other"},{"id":"some-model","created":1.5},{"id":"a"}]}`
	for _, tt := range []struct {
		name   string
		models transport
		chat   transport // nil if it must not be asked
		want   string    // beginning of the error
		has    string
	}{
		{"fine", replying(200, list), nil, "", ""},
		{"as an array", replying(200, `[{"id":"some-model"}]`), nil, "", ""},
		{"Gemini's prefix", replying(200, `{"data":[{"id":"models/some-model"}]}`), nil, "", ""},
		{"Ollama's tag", replying(200, `{"data":[{"id":"some-model:latest"}]}`), nil, "", ""},
		{"lacks it", replying(200, `{"data":[{"id":"x"},{"id":"bad\u001b[0m"},{"id":"some-modle"},{"id":"maker/some-model-2"},{"id":"b1"},{"id":"c1"},{"id":"d1"},{"id":"e1"}]}`), nil,
			"llm.model: ", "near it are maker/some-model-2, some-modle, "},
		{"key refused", replying(401, `{"error":{"message":"`+testKey+`"}}`), nil, "llm.api_key: the key was refused", "401"},
		{"forbidden", replying(403, ""), nil, "llm.api_key: the key was refused", "403"},
		{"down", replying(503, ""), nil, "llm.base_url: ", "503"},
		{"not there", func(*http.Request) (*http.Response, error) { return nil, io.EOF }, nil, "llm.base_url: the service cannot be reached", ""},
		{"redirect", replying(302, "", "Location", "https://other.test/"), nil, "llm.base_url: ", "302"},
		{"no list, fine", replying(404, ""), replying(200, says("a")+ends("length")+done), "", ""},
		{"no list, thinks", replying(404, ""), replying(200, ends("length")+done), "", ""},
		{"empty list, fine", replying(200, `{"data":[]}`), replying(200, says("a")+done), "", ""},
		{"list is a page", replying(200, page), replying(404, page), "llm.model or llm.base_url: ", "404"},
		{"both pages", replying(200, page), replying(200, page), "llm.base_url: no answer", "page"},
		{"no list, something else", replying(405, ""), replying(200, `{"status":"ok"}`), "llm.base_url: no answer", ""},
		{"no list, key refused", replying(404, ""), replying(401, ""), "llm.api_key: the key was refused", ""},
		{"no list, no credit", replying(404, ""), replying(429, `{"error":{"code":"insufficient_quota"}}`), "llm.api_key: ", "credit"},
		{"no list, no model", replying(404, ""), replying(404, `{"error":{"code":"model_not_found"}}`), "llm.model or llm.base_url: ", ""},
		{"no list, bad request", replying(404, ""), replying(400, `{"error":{"code":"unsupported_parameter","message":"use max_completion_tokens"}}`), "llm: the service refuses", "llm.max_tokens_field"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			client := New(testConfig(), nil, transport(func(r *http.Request) (*http.Response, error) {
				if r.Header.Get("Authorization") != "Bearer "+testKey {
					t.Error("no key was sent")
				}
				if r.Method == "GET" && r.URL.Path == "/v1/models" {
					return tt.models(r)
				}
				var body struct {
					MaxTokens int `json:"max_tokens"`
				}
				if err := json.NewDecoder(r.Body).Decode(&body); tt.chat == nil || err != nil || body.MaxTokens != 1 || r.URL.Path != "/v1/chat/completions" {
					t.Fatalf("%s %s with %+v, %v", r.Method, r.URL, body, err)
				}
				return tt.chat(r)
			}))
			err := client.Check(t.Context())
			if (tt.want == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), tt.want) || err != nil && !strings.Contains(err.Error(), tt.has) {
				t.Errorf("got %v; want %q with %q", err, tt.want, tt.has)
			}
			secretive(t, err, "")
			if strings.Contains(fmt.Sprint(err), "\x1b") {
				t.Errorf("a name that is no name in %q", err)
			}
		})
	}
}

func TestModels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		models transport
		want   string // beginning of the error
		names  []string
	}{
		{"sorted", replying(200, `{"data":[{"id":"b"},{"id":"maker/a:free"},{"id":"b"}]}`), "", []string{"b", "maker/a:free"}},
		{"no names", replying(200, `{"data":[{"id":"bad\u001b[0m"},{"id":"two words"},{"id":"`+testKey+`"},{"id":"a"}]}`), "", []string{"a"}},
		{"no list", replying(404, ""), "", nil},
		{"a page", replying(200, page), "", nil},
		{"key refused", replying(401, ""), "llm.api_key: the key was refused", nil},
		{"not there", func(*http.Request) (*http.Response, error) { return nil, io.EOF }, "llm.base_url: the service cannot be reached", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			names, err := New(testConfig(), nil, tt.models).Models(t.Context())
			if !slices.Equal(names, tt.names) {
				t.Errorf("got %q, want %q", names, tt.names)
			}
			if (tt.want == "") != (err == nil) || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestCheckVariant(t *testing.T) {
	cfg := testConfig()
	cfg.Model = "maker/model:nitro"
	if err := New(cfg, nil, replying(200, `{"data":[{"id":"maker/model"}]}`)).Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCheckCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	client := New(testConfig(), nil, transport(func(r *http.Request) (*http.Response, error) { return nil, r.Context().Err() }))
	if err := client.Check(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
