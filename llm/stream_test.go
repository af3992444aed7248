package llm

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"lastword/conversation"
)

// says is an event with content, ends one with a finish reason.
func says(text string) string {
	return `data: {"choices":[{"index":0,"delta":{"content":"` + text + `"},"finish_reason":null}]}` + "\n\n"
}

func ends(reason string) string {
	return `data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}` + "\n\n"
}

const (
	done  = "data: [DONE]\n\n"
	usage = `data: {"choices":[],"usage":{"prompt_tokens":12.0,"completion_tokens":3,"total_tokens":15}}` + "\n\n"
	page  = "<html><head><title>502 Bad Gateway</title></head></html>"
)

// streams are bodies of answers with status 200: a text, or an error of a kind.
var streams = []struct {
	name, body string
	text       string
	kind       conversation.ModelErrorKind
}{
	{"normal", says("re: ") + says("hello") + ends("stop") + usage + done, "re: hello", ""},
	{"no space after data", strings.ReplaceAll(says("hi")+ends("stop")+done, "data: ", "data:"), "hi", ""},
	{"CRLF", strings.ReplaceAll(says("hi")+ends("stop")+done, "\n", "\r\n"), "hi", ""},
	{"CR", strings.ReplaceAll(says("hi")+ends("stop")+done, "\n", "\r"), "hi", ""},
	{"no blank lines", strings.ReplaceAll(says("hi")+says("!")+ends("stop")+done, "\n\n", "\n"), "hi!", ""},
	{"byte order mark", "\uFEFF" + says("hi") + done, "hi", ""},
	{"blank lines first", "\n\n \n" + says("hi") + done, "hi", ""},
	{"other fields", "id: 1\nretry: 100\nevent: message\n" + says("hi") + done, "hi", ""},
	{"event over several lines", "data: {\"choices\":[{\"delta\":\ndata: {\"content\":\"hi\"}}]}\n\n" + done, "hi", ""},
	{"many comments", strings.Repeat(": OPENROUTER PROCESSING\n\n", 1000) + says("hi") + strings.Repeat(": x\n", 1000) + ends("stop") + done, "hi", ""},
	{"words that are not JSON", "data: ping\n\ndata: null\n\ndata:\n\n" + says("hi") + done, "hi", ""},
	{"long line", says(strings.Repeat("x", 1<<20)) + done, strings.Repeat("x", 1<<20), ""},
	{"line without end", "data: {" + strings.Repeat("x", maxEvent+10), "", conversation.Temporary},
	{"event without end", says("hi") + strings.Repeat("data: {"+strings.Repeat("x", 1<<20)+"\n", 5), "", conversation.Temporary},
	{"answer without end", strings.Repeat(says(strings.Repeat("x", 1<<20)), 9) + done, "", conversation.Temporary},
	{"any script", says("Где 快递 🚚👩‍👩‍👧 \\u003ctags\\u003e") + done, "Где 快递 🚚👩‍👩‍👧 <tags>", ""},

	{"finish reason without DONE", says("hi") + ends("stop"), "hi", ""},
	{"DONE without finish reason", says("hi") + done, "hi", ""},
	{"DONE without newline", says("hi") + "data: [DONE]", "hi", ""},
	{"finish reason without newline", says("hi") + strings.TrimSpace(ends("stop")), "hi", ""},
	{"finish reason in every piece", strings.ReplaceAll(says("a")+says("b"), "null", `"stop"`), "ab", ""},
	{"length", says("hi") + ends("length") + done, "hi", ""},
	{"usage cut off after the end", says("hi") + ends("stop") + usage[:30], "hi", ""},
	{"cut", says("hi"), "", conversation.Temporary},
	{"cut inside an event", says("hi") + says("there")[:40], "", conversation.Temporary},
	{"cut after an early finish reason", strings.ReplaceAll(says("a"), "null", `"stop"`) + says("b"), "", conversation.Temporary},
	{"empty finish reason is none", says("hi") + ends(""), "", conversation.Temporary},
	{"DONE only", done, "", conversation.Temporary},
	{"nothing", "", "", conversation.Temporary},
	{"comments only", ": a\n\n: b\n\n", "", conversation.Temporary},
	{"broken event in the middle", says("a") + "data: {\"choices\":[{\n\n" + says("b") + done, "", conversation.Temporary},

	{"empty choices", `data: {"choices":[]}` + "\n\n" + done, "", conversation.Temporary},
	{"null choices and delta", `data: {"choices":null}` + "\n\n" + `data: {"choices":[{"delta":null}]}` + "\n\n" + says("hi") + done, "hi", ""},
	{"null content", strings.ReplaceAll(says("x"), `"x"`, "null") + ends("stop") + done, "", conversation.Temporary},
	{"blank text", says("  \\n ") + ends("stop") + done, "", conversation.Temporary},
	{"invisible text", says("\u200b\ufeff") + ends("stop") + done, "", conversation.Temporary},
	{"content filter without text", ends("content_filter") + done, "", conversation.Rejected},
	{"content filter after text", says("hi") + ends("content_filter") + done, "hi", ""},
	{"thinking used up the length", ends("length") + done, "", conversation.Temporary},
	{"finish reason error", says("hi") + ends("error") + done, "", conversation.Temporary},
	{"refusal", `data: {"choices":[{"delta":{"content":null,"refusal":"no"}}]}` + "\n\n" + done, "no", ""},

	{"content in parts", `data: {"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"secretly"}]},{"type":"text","text":"hi"},"!"]}}]}` + "\n\n" + done, "hi!", ""},
	{"content of unknown form", says("hi") + strings.ReplaceAll(says("x"), `"x"`, "42") + done, "", conversation.Temporary},
	{"choices of unknown form", says("hi") + `data: {"choices":"hello"}` + "\n\n" + done, "", conversation.Temporary},
	{"odd numbers", `data: {"created":1.7e9,"id":7,"choices":[{"index":"0","delta":{"content":"hi"},"finish_reason":false}],"usage":{"prompt_tokens":"many"}}` + "\n\n" + done, "hi", ""},
	{"message in an event", `data: {"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\n" + done, "hi", ""},

	{"reasoning_content", `data: {"choices":[{"delta":{"reasoning_content":"secretly"}}]}` + "\n\n" + says("hi") + done, "hi", ""},
	{"reasoning", `data: {"choices":[{"delta":{"reasoning":"secretly","content":""}}]}` + "\n\n" + says("hi") + done, "hi", ""},
	{"reasoning only", `data: {"choices":[{"delta":{"reasoning":"secretly"}}]}` + "\n\n" + ends("stop") + done, "", conversation.Temporary},
	{"think block", says("\\n<th") + says("ink>\\nsecretly</thi") + says("nk>\\n\\nhi") + says(" you") + done, "hi you", ""},
	{"think block only", says("<think>secretly") + ends("stop") + done, "", conversation.Temporary},
	{"not a think block", says("<thi") + says("s> is") + done, "<this> is", ""},
	{"beginning of the tag only", says("<thi") + done, "<thi", ""},
	{"think block in the middle", says("a <think>b</think>") + done, "a <think>b</think>", ""},

	{"error", says("hi") + `data: {"error":{"message":"boom","type":"server_error","code":500}}` + "\n\n" + done, "", conversation.Temporary},
	{"error after the end", says("hi") + ends("stop") + `data: {"error":{"message":"boom"}}` + "\n\n" + done, "", conversation.Temporary},
	{"error after comments", ": a\n\n: b\n\n" + `data: {"error":{"message":"boom"}}` + "\n\n", "", conversation.Temporary},
	{"error with a space", says("hi") + `data: { "error": {"message":"boom"}}` + "\n\n" + done, "", conversation.Temporary},
	{"error not the first key", `data: {"id":"x","provider":"y","error":{"code":502,"message":"boom"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}` + "\n\n" + done, "", conversation.Temporary},
	{"error in a choice", `data: {"choices":[{"error":{"code":402,"message":"boom"},"finish_reason":"error"}]}` + "\n\n" + done, "", conversation.Denied},
	{"error as a string", says("hi") + `data: {"error":"boom"}` + "\n\n" + done, "", conversation.Temporary},
	{"event: error", says("hi") + "event: error\ndata: {\"message\":\"boom\",\"code\":\"insufficient_quota\"}\n\n" + done, "", conversation.Denied},
	{"event: error with text", says("hi") + "event: error\ndata: boom\n\n" + done, "", conversation.Temporary},
	{"error line of llama.cpp", says("hi") + `error: {"code":400,"message":"the request exceeds the available context size"}` + "\n\n", "", conversation.ContextTooBig},
	{"error outside of events", says("hi") + `{"error":{"code":"rate_limit_exceeded"}}` + "\n" + done, "", conversation.Temporary},
	{"error object of vLLM", `data: {"object":"error","message":"boom","code":400}` + "\n\n" + done, "", conversation.Rejected},
	{"error of FastAPI", `data: {"detail":"boom"}` + "\n\n" + done, "", conversation.Temporary},
	{"error that is none", strings.ReplaceAll(says("hi"), `{"choices"`, `{"error":null,"choices"`) + done, "hi", ""},
	{"error: context", `data: {"error":{"message":"This model's maximum context length is 8192 tokens."}}` + "\n\n", "", conversation.ContextTooBig},
	{"error: key", `data: {"error":{"message":"boom","code":"401"}}` + "\n\n", "", conversation.Denied},

	{"page", page, "", conversation.Temporary},
	{"plain text", "Internal Server Error", "", conversation.Temporary},
	{"JSON error", `{"error":{"message":"boom"}}`, "", conversation.Temporary},
	{"JSON error in an array", `[{"error":{"message":"boom"}}]`, "", conversation.Temporary},
	{"JSON error of quota", `{"error":{"message":"boom","type":"insufficient_quota"}}`, "", conversation.Denied},
	{"JSON completion", "\n\n" + `{"id":"x","created":1.5,"choices":[{"index":0,"message":{"role":"assistant","content":"hi","reasoning_content":"secretly"},"finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3}}`, "hi", ""},
	{"JSON completion without finish reason", `{"choices":[{"message":{"content":"hi"}}]}`, "hi", ""},
	{"JSON completion, empty", `{"choices":[{"message":{"content":null},"finish_reason":"stop"}]}`, "", conversation.Temporary},
	{"JSON completion, cut", `{"choices":[{"message":{"content":"hi"}}`, "", conversation.Temporary},
	{"JSON of another kind", `{"status":"ok"}`, "", conversation.Temporary},
	{"JSON lines", `{"choices":[{"delta":{"content":"hi"}}]}` + "\n" + `{"choices":[{"delta":{},"finish_reason":"stop"}]}` + "\n", "hi", ""},
	{"JSON lines, cut", `{"choices":[{"delta":{"content":"hi"}}]}` + "\n", "", conversation.Temporary},
}

func TestStreams(t *testing.T) {
	for _, tt := range streams {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var last string
				got, err := New(testConfig(), nil, replying(200, tt.body)).Generate(t.Context(), hello, func(text string) {
					if len(text) <= len(last) || !strings.HasPrefix(text, last) {
						t.Errorf("progress went from %q to %q", last, text)
					}
					last = text
				})
				if kindOf(err) != tt.kind || got.Text != tt.text {
					t.Fatalf("got %.200q, %v; want %.200q and kind %q", got.Text, err, tt.text, tt.kind)
				}
				if strings.Contains(last, "secretly") || err == nil && last != "" && last != got.Text {
					t.Errorf("progress ended at %.200q, the text is %.200q", last, got.Text)
				}
				if strings.Contains(tt.body, `"completion_tokens":3`) && err == nil && (got.Tokens != conversation.Tokens{Prompt: 12, Completion: 3}) {
					t.Errorf("tokens: %+v", got.Tokens)
				}
			})
		})
	}
}

// An answer comes out the same however the bytes of it are split up.
func TestStreamsInSingleBytes(t *testing.T) {
	for _, tt := range streams {
		if len(tt.body) > 10000 {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			got, err := New(testConfig(), nil, transport(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Body: io.NopCloser(&single{strings.NewReader(tt.body)}), Request: r}, nil
			})).Generate(t.Context(), hello, nil)
			if kindOf(err) != tt.kind || got.Text != tt.text {
				t.Fatalf("got %q, %v; want %q and kind %q", got.Text, err, tt.text, tt.kind)
			}
		})
	}
}

type single struct{ r io.Reader }

func (s *single) Read(p []byte) (int, error) { return s.r.Read(p[:min(len(p), 1)]) }

// A connection that breaks counts as an end only after the end of the answer.
func TestBrokenConnection(t *testing.T) {
	for body, want := range map[string]conversation.ModelErrorKind{
		says("hi"):                            conversation.Temporary,
		says("hi") + "data: {\"choi":          conversation.Temporary,
		says("hi") + ends("stop"):             "",
		says("hi") + ends("stop") + "data: {": "",
		says("hi") + done:                     "",
	} {
		for _, broken := range []error{io.ErrUnexpectedEOF, errors.New(testKey)} {
			_, err := New(testConfig(), nil, transport(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Request: r,
					Body: io.NopCloser(io.MultiReader(strings.NewReader(body), failing{broken}))}, nil
			})).Generate(t.Context(), hello, nil)
			if kindOf(err) != want {
				t.Errorf("%q: got %v, want kind %q", body, err, want)
			}
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestAnswerThatStopsAnywhere(t *testing.T) {
	whole := says("re: ") + says("hello") + ends("stop") + usage + done
	end := strings.Index(whole, ends("stop")) + len(strings.TrimSpace(ends("stop")))
	for n := range len(whole) {
		_, err := New(testConfig(), nil, replying(200, whole[:n])).Generate(t.Context(), hello, nil)
		if complete := n >= end; complete != (err == nil) {
			t.Fatalf("after %d of %d bytes: %v", n, end, err)
		}
	}
}
