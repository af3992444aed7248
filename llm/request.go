package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"

	openai "github.com/sashabaranov/go-openai"

	"lastword/conversation"
)

// chatRequest is go-openai's request with a temperature that can be 0: the
// field of the embedded struct would be left out then.
type chatRequest struct {
	openai.ChatCompletionRequest
	Temperature *float32 `json:"temperature,omitempty"`
}

// request makes the body of a call. Blank messages are left out: go-openai
// encodes them without content, which many services refuse.
func (c *Client) request(prompt []conversation.PromptMessage) chatRequest {
	r := chatRequest{Temperature: c.cfg.Temperature}
	r.Model = c.cfg.Model
	r.Stream = true
	r.limit(c.cfg.MaxTokensField, c.cfg.MaxTokens)
	for _, m := range prompt {
		if strings.TrimSpace(m.Text) != "" {
			r.Messages = append(r.Messages, openai.ChatCompletionMessage{Role: string(m.Role), Content: m.Text})
		}
	}
	if len(r.Messages) > 0 && strings.TrimSpace(c.cfg.SystemPrompt) != "" {
		system := openai.ChatCompletionMessage{Role: openai.ChatMessageRoleSystem, Content: c.cfg.SystemPrompt}
		r.Messages = append([]openai.ChatCompletionMessage{system}, r.Messages...)
	}
	return r
}

// limit sets how long the answer may be.
func (r *chatRequest) limit(field string, tokens int) {
	if field == maxCompletionTokens {
		r.MaxCompletionTokens = tokens
	} else {
		r.MaxTokens = tokens //nolint:staticcheck // deprecated by OpenAI, and all that older and local services know
	}
}

// post sends a request for a completion; options asks for token counts.
func (c *Client) post(ctx context.Context, r chatRequest, options bool) (*http.Response, error) {
	if options {
		r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return c.send(ctx, http.MethodPost, "chat/completions", data)
}

func (c *Client) send(ctx context.Context, method, path string, data []byte) (*http.Response, error) {
	base, err := url.Parse(c.cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	var body io.Reader
	if data != nil {
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, base.JoinPath(path).String(), body)
	if err != nil {
		return nil, err
	}
	if data != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json")
	}
	if key := c.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+string(key))
	}
	req.Header.Set("User-Agent", "lastword")
	return c.http.Do(req)
}
