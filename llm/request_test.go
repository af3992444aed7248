package llm

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"lastword/conversation"
)

// sent returns the body of the request that a call makes.
func sent(t *testing.T, cfg Config, prompt []conversation.PromptMessage) map[string]any {
	t.Helper()
	var body map[string]any
	_, err := New(cfg, nil, transport(func(r *http.Request) (*http.Response, error) {
		if got := r.URL.String(); got != "http://llm.test/v1/chat/completions" {
			t.Errorf("URL: %s", got)
		}
		if got := r.Header.Get("Authorization"); got != "Bearer "+testKey {
			t.Errorf("Authorization: %q", got)
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		return replying(200, says("hi")+done)(r)
	})).Generate(t.Context(), prompt, nil)
	if err != nil {
		t.Fatal(err)
	}
	return body
}

func TestRequest(t *testing.T) {
	cfg := testConfig()
	body := sent(t, cfg, []conversation.PromptMessage{
		{Role: conversation.User, Text: "Где <b>🚚"}, {Role: conversation.Assistant, Text: " \n"}, {Role: conversation.User, Text: "b"},
	})
	want := map[string]any{
		"model": "some-model", "stream": true, "stream_options": map[string]any{"include_usage": true},
		"messages": []any{
			map[string]any{"role": "user", "content": "Где <b>🚚"},
			map[string]any{"role": "user", "content": "b"},
		},
	}
	if !reflect.DeepEqual(body, want) {
		t.Errorf("got  %v\nwant %v", body, want)
	}

	zero := float32(0)
	cfg.Temperature, cfg.MaxTokens, cfg.SystemPrompt, cfg.BaseURL = &zero, 100, "Be kind.", "http://llm.test/v1/"
	body = sent(t, cfg, hello)
	if body["temperature"] != 0.0 || body["max_tokens"] != 100.0 || body["max_completion_tokens"] != nil {
		t.Errorf("got %v", body)
	}
	if first := body["messages"].([]any)[0]; !reflect.DeepEqual(first, map[string]any{"role": "system", "content": "Be kind."}) {
		t.Errorf("first message: %v", first)
	}

	warm := float32(0.7)
	cfg.Temperature, cfg.MaxTokensField = &warm, maxCompletionTokens
	body = sent(t, cfg, hello)
	if body["temperature"] != 0.7 || body["max_tokens"] != nil || body["max_completion_tokens"] != 100.0 {
		t.Errorf("got %v", body)
	}
}

func TestEmptyPrompt(t *testing.T) {
	client := New(testConfig(), nil, transport(func(*http.Request) (*http.Response, error) {
		t.Error("a request was sent")
		return nil, io.EOF
	}))
	_, err := client.Generate(t.Context(), []conversation.PromptMessage{{Role: conversation.User, Text: " "}}, nil)
	if kindOf(err) != conversation.Rejected {
		t.Errorf("got %v", err)
	}
}

func TestStreamOptionsRefused(t *testing.T) {
	for status, refusal := range map[int]string{
		400: `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`,
		422: `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`,
	} {
		var with, without int
		client := New(testConfig(), nil, transport(func(r *http.Request) (*http.Response, error) {
			data, _ := io.ReadAll(r.Body)
			if strings.Contains(string(data), "stream_options") {
				with++
				return replying(status, refusal)(r)
			}
			without++
			return replying(200, says("hi")+done)(r)
		}))
		for range 3 {
			if _, err := client.Generate(t.Context(), hello, nil); err != nil {
				t.Fatal(err)
			}
		}
		if with != 1 || without != 3 {
			t.Errorf("status %d: %d requests with stream_options, %d without", status, with, without)
		}
	}
}

// Neither the key nor what people wrote follows a redirect to another place.
func TestRedirects(t *testing.T) {
	var elsewhere, moved int
	for target, want := range map[string]conversation.ModelErrorKind{
		"http://other.test/v1/chat/completions":     conversation.Rejected,
		"http://sub.llm.test/v1/chat/completions":   conversation.Rejected,
		"http://llm.test:8080/v1/chat/completions":  conversation.Rejected,
		"https://llm.test/v1/chat/completions":      conversation.Rejected,
		"http://llm.test/v2/chat/completions?moved": "",
	} {
		_, err := New(testConfig(), nil, transport(func(r *http.Request) (*http.Response, error) {
			switch r.URL.String() {
			case "http://llm.test/v1/chat/completions":
				return replying(307, "", "Location", target)(r)
			case "http://llm.test/v2/chat/completions?moved":
				moved++
				return replying(200, says("hi")+done)(r)
			}
			elsewhere++
			return replying(200, says("hi")+done)(r)
		})).Generate(t.Context(), hello, nil)
		if kindOf(err) != want {
			t.Errorf("to %s: %v", target, err)
		}
	}
	if elsewhere != 0 || moved != 1 {
		t.Errorf("%d requests went elsewhere, %d within", elsewhere, moved)
	}
}
