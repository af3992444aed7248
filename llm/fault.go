package llm

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// fault is an error as a service reported it. It is for looking at: its texts
// can repeat anything, so none of it goes into an error unseen.
type fault struct {
	status int    // if the report holds one
	code   string // "context_length_exceeded"
	kind   string // "invalid_request_error"
	text   string // all messages, in lower case
}

// faultFields are the fields in which the various services report an error:
// OpenAI's object, a plain string, FastAPI's detail, Gemini's array of objects,
// Cloudflare's list, OpenRouter's copy of somebody else's report.
type faultFields struct {
	Object   json.RawMessage `json:"object"`
	Choices  json.RawMessage `json:"choices"`
	Error    json.RawMessage `json:"error"`
	Errors   json.RawMessage `json:"errors"`
	Detail   json.RawMessage `json:"detail"`
	Message  json.RawMessage `json:"message"`
	Msg      json.RawMessage `json:"msg"`
	Param    json.RawMessage `json:"param"`
	Loc      json.RawMessage `json:"loc"`
	Metadata json.RawMessage `json:"metadata"`
	Raw      json.RawMessage `json:"raw"`
	Code     json.RawMessage `json:"code"`
	Type     json.RawMessage `json:"type"`
}

// isFault reports whether a piece of an answer is an error. A field error that
// is null is not one; some services put it into every piece.
func isFault(data []byte) bool {
	if len(data) > 0 && data[0] == '[' {
		return true // no answer is an array, but Gemini's errors are
	}
	var f faultFields
	if json.Unmarshal(data, &f) != nil {
		return false
	}
	if filled(f.Error) || string(f.Object) == `"error"` {
		return true
	}
	return f.Choices == nil && (filled(f.Errors) || filled(f.Detail) || filled(f.Message) || filled(f.Msg))
}

// parseFault reads a report in any form; one in none at all is empty.
func parseFault(data []byte) fault {
	var f fault
	f.read(data, 5)
	f.text = strings.ToLower(f.text)
	return f
}

// readFault reads the body of a response whose status is an error, and closes it.
func readFault(resp *http.Response) fault {
	defer resp.Body.Close()
	data, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what there is of it will do
	return parseFault(data)
}

func (f *fault) read(data json.RawMessage, depth int) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || depth == 0 {
		return
	}
	switch data[0] {
	case '[':
		var list []json.RawMessage
		_ = json.Unmarshal(data, &list)
		for _, each := range list[:min(len(list), 16)] {
			f.read(each, depth-1)
		}
	case '{':
		f.readObject(data, depth)
	default:
		var s string
		if json.Unmarshal(data, &s) != nil {
			s = string(data) // llama.cpp's bare text; a number or a page says nothing
		}
		f.text += s + "\n"
		if strings.HasPrefix(s, "{") { // a report inside of a report
			f.readObject([]byte(s), depth)
		}
	}
}

func (f *fault) readObject(data json.RawMessage, depth int) {
	var o faultFields
	if json.Unmarshal(data, &o) != nil {
		return
	}
	if n, err := strconv.Atoi(strings.Trim(string(o.Code), `"`)); err == nil {
		if f.status == 0 && n >= 400 && n < 600 {
			f.status = n
		}
	} else {
		keep(&f.code, o.Code)
	}
	keep(&f.kind, o.Type)
	for _, field := range []json.RawMessage{o.Error, o.Errors, o.Detail, o.Message, o.Msg, o.Param, o.Loc, o.Metadata, o.Raw} {
		f.read(field, depth-1)
	}
}

// keep sets a text that is not set yet.
func keep(s *string, data json.RawMessage) {
	if *s == "" {
		_ = json.Unmarshal(data, s) // left empty by what is no string
	}
}

func (f fault) is(codes ...string) bool {
	for _, c := range codes {
		if f.code == c || f.kind == c {
			return true
		}
	}
	return false
}

// refuses reports whether a request was refused for one of the fields named.
func (f fault) refuses(status int, fields ...string) bool {
	if status != http.StatusBadRequest && status != http.StatusUnprocessableEntity {
		return false
	}
	for _, name := range fields {
		if strings.Contains(f.text, name) {
			return true
		}
	}
	return false
}

// bigPhrases are what services say of a prompt that is too long, if they have
// no code for it.
var bigPhrases = []string{
	"context length", "context window", "context size", "context_length", "too many tokens", "prompt is too long",
	"prompt too long", "input is too long", "token count exceeds", "exceeds the maximum number of tokens",
}

func (f fault) tooBig() bool {
	if f.is("context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded") {
		return true
	}
	for _, p := range bigPhrases {
		if strings.Contains(f.text, p) {
			return true
		}
	}
	return false
}
