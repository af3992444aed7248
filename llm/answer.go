package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"unicode"

	"lastword/conversation"
)

var (
	errForm     = errors.New("the service sent something that is not an answer in a known form")
	errNone     = errors.New("the service sent nothing that is an answer")
	errTooLong  = errors.New("the answer is longer than 8 MiB")
	errEmpty    = errors.New("the answer is empty")
	errAllUsed  = errors.New("the answer is empty: thinking used up its length; raise llm.max_tokens or leave it out")
	errFiltered = errors.New("the service's content filter withheld the answer")
	errGaveUp   = errors.New("the service gave the answer up (finish reason error)")
)

// answer is what has come of an answer so far.
type answer struct {
	text   prose
	tokens conversation.Tokens
	finish string // the finish reason, once there is one
	over   bool   // a finish reason came, and no content after it
	done   bool   // [DONE] came, or a whole document: nothing follows
	known  bool   // something came that has the form of an answer
	fault  *fault // the service reported an error
}

// frame and the types below it name the fields of a piece that matter, as
// undecoded JSON: what cannot be decoded must not cost the rest.
type frame struct {
	Choices json.RawMessage `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Delta        json.RawMessage `json:"delta"`
	Message      json.RawMessage `json:"message"` // of an answer that is not streamed
	FinishReason json.RawMessage `json:"finish_reason"`
	Error        json.RawMessage `json:"error"` // OpenRouter
}

type piece struct {
	Content json.RawMessage `json:"content"`
	Refusal json.RawMessage `json:"refusal"` // OpenAI: the model's words in place of content

	// Thoughts are a sign of life, and nothing else.
	ReasoningContent json.RawMessage `json:"reasoning_content"` // DeepSeek, llama.cpp
	Reasoning        json.RawMessage `json:"reasoning"`         // vLLM, OpenRouter, Ollama
	ReasoningDetails json.RawMessage `json:"reasoning_details"` // OpenRouter
}

// take adds an event to the answer and says whether it is a sign of life.
func (a *answer) take(e event) (alive bool, err error) {
	data := bytes.TrimSpace(e.data)
	switch {
	case isDone(data):
		a.done = true
		return false, nil
	case e.name == "error":
		a.fail(data)
		return false, nil
	case len(data) == 0 || data[0] != '{' && data[0] != '[':
		return false, nil // null, "ping"
	}
	var f frame
	if err := json.Unmarshal(data, &f); err != nil && !json.Valid(data) {
		if e.last {
			return false, nil // broken off; whether that matters depends on what came before
		}
		return false, errForm
	}
	if isFault(data) {
		a.fail(data)
		return false, nil
	}
	a.count(f.Usage)
	if f.Choices == nil {
		return false, nil
	}
	a.known = true
	return a.takeChoices(f.Choices, e.body)
}

func (a *answer) fail(data []byte) {
	f := parseFault(data)
	a.fault = &f
}

// takeChoices reads the one choice that was asked for.
func (a *answer) takeChoices(data json.RawMessage, document bool) (alive bool, err error) {
	var choices []json.RawMessage
	var c choice
	if json.Unmarshal(data, &choices) != nil {
		return false, errForm
	}
	if len(choices) == 0 {
		return false, nil
	}
	if json.Unmarshal(choices[0], &c) != nil {
		return false, errForm
	}
	if filled(c.Error) {
		a.fail(c.Error)
		return false, nil
	}
	content := c.Delta
	if !filled(content) && a.text.size() == 0 {
		content = c.Message
		a.done = document && filled(content)
	}
	if alive, err = a.takePiece(content); err != nil {
		return false, err
	}
	var reason string
	if json.Unmarshal(c.FinishReason, &reason) == nil && reason != "" {
		a.finish, a.over = reason, true
	}
	return alive, nil
}

func (a *answer) takePiece(data json.RawMessage) (alive bool, err error) {
	if !filled(data) {
		return false, nil
	}
	var p piece
	if json.Unmarshal(data, &p) != nil {
		return false, errForm
	}
	for _, thought := range []json.RawMessage{p.ReasoningContent, p.Reasoning, p.ReasoningDetails} {
		alive = alive || filled(thought)
	}
	for _, raw := range []json.RawMessage{p.Content, p.Refusal} {
		text, thought, err := readContent(raw)
		if err != nil {
			return false, err
		}
		alive = alive || thought || text != ""
		if text == "" {
			continue
		}
		a.over = false // a finish reason before the end was none
		if err := a.text.add(text); err != nil {
			return false, err
		}
	}
	return alive, nil
}

// readContent decodes content: a string, or parts of which those that are not
// text, thoughts mostly, are dropped.
func readContent(data json.RawMessage) (text string, dropped bool, err error) {
	if !filled(data) {
		return "", false, nil
	}
	if json.Unmarshal(data, &text) == nil {
		return text, false, nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(data, &parts) != nil {
		parts = []json.RawMessage{data}
	}
	var all strings.Builder
	for _, raw := range parts {
		var part struct {
			Type string          `json:"type"`
			Text json.RawMessage `json:"text"`
		}
		if json.Unmarshal(raw, &part) == nil && part.Type != "" && part.Type != "text" && part.Type != "output_text" {
			dropped = true
			continue
		}
		if part.Text == nil {
			part.Text = raw // a part may be a plain string
		}
		var s string
		if json.Unmarshal(part.Text, &s) != nil {
			return "", false, errForm
		}
		all.WriteString(s)
	}
	return all.String(), dropped, nil
}

// count reads how many tokens were used. Some services repeat the count in
// every piece: the last one is the total.
func (a *answer) count(data json.RawMessage) {
	var n struct {
		Prompt     float64 `json:"prompt_tokens"` // some write 12.0
		Completion float64 `json:"completion_tokens"`
	}
	if filled(data) && json.Unmarshal(data, &n) == nil {
		a.tokens = conversation.Tokens{Prompt: tokens(n.Prompt), Completion: tokens(n.Completion)}
	}
}

func tokens(n float64) int { return int(min(max(n, 0), 1<<30)) }

// complete reports whether the end of the answer was seen.
func (a *answer) complete() bool { return a.done || a.over }

// verdict returns the text of an answer that is complete.
func (a *answer) verdict() (string, error) {
	text := a.text.whole()
	switch blank := !strings.ContainsFunc(text, visible); {
	case a.finish == "error": // OpenRouter
		return "", temporary(errGaveUp)
	case !blank:
		return text, nil
	case !a.known:
		return "", temporary(errNone)
	case a.finish == "content_filter":
		return "", &conversation.ModelError{Kind: conversation.Rejected, Err: errFiltered}
	case a.finish == "length":
		return "", temporary(errAllUsed)
	default:
		return "", temporary(errEmpty)
	}
}

// visible reports whether a person can see something of r; there are letters of
// no width.
func visible(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }

// filled reports whether a JSON value says something.
func filled(data json.RawMessage) bool {
	switch string(bytes.TrimSpace(data)) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}
