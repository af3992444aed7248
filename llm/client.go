package llm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"lastword/conversation"
)

// Client asks one model of one service. Its methods may be called at the same
// time.
type Client struct {
	cfg       Config // without the key
	key       func() Secret
	log       *slog.Logger
	http      *http.Client
	places    chan struct{} // one element for each call in flight
	noOptions atomic.Bool   // the service refused stream_options: do without token counts
}

var _ conversation.Model = (*Client)(nil)

// New makes a client from a configuration that is valid. A nil transport is
// replaced by one for the public internet, a nil logger by none. New starts
// nothing.
func New(cfg Config, log *slog.Logger, transport http.RoundTripper) *Client {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	if transport == nil {
		transport = newTransport(cfg.MaxConcurrent)
	}
	// A function does not print what it holds: fmt does not see that the field
	// of a field is a Secret, because it does not call methods of fields that
	// are not exported.
	key := cfg.APIKey
	cfg.APIKey = ""
	return &Client{
		cfg:    cfg,
		key:    func() Secret { return key },
		log:    log,
		http:   &http.Client{Transport: transport, CheckRedirect: sameOrigin},
		places: make(chan struct{}, max(cfg.MaxConcurrent, 1)),
	}
}

// Close drops idle connections. Calls in flight are not affected.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Generate implements conversation.Model.
func (c *Client) Generate(ctx context.Context, prompt []conversation.PromptMessage, progress func(text string)) (conversation.Completion, error) {
	body := c.request(prompt)
	if len(body.Messages) == 0 {
		return conversation.Completion{}, &conversation.ModelError{Kind: conversation.Rejected, Err: errNoPrompt}
	}
	if err := c.enter(ctx); err != nil {
		return conversation.Completion{}, err
	}
	defer c.leave()

	done, err := c.exchange(ctx, body, progress)
	if err != nil {
		c.log.Debug("model call failed", "model", c.cfg.Model, "err", err)
		return conversation.Completion{}, err
	}
	c.log.Debug("model call done", "model", c.cfg.Model, "took", done.Took, "first_token", done.FirstToken,
		"prompt_tokens", done.Tokens.Prompt, "completion_tokens", done.Tokens.Completion)
	return done, nil
}

// enter waits for a free place. Senders of a channel queue in order.
func (c *Client) enter(ctx context.Context) error {
	if ctx.Err() == nil {
		select {
		case c.places <- struct{}{}:
			return nil
		case <-ctx.Done():
		}
	}
	return fmt.Errorf("%w: %w", conversation.ErrNotAsked, ended(ctx))
}

func (c *Client) leave() { <-c.places }

// ended is the error for a context that ended. It is both the context's error
// and its cause.
func ended(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, ctx.Err()) || !errors.Is(ctx.Err(), cause) {
		return fmt.Errorf("model call: %w: %w", ctx.Err(), cause)
	}
	return fmt.Errorf("model call: %w", ctx.Err())
}

// sameOrigin follows redirects within a service only. Elsewhere must go neither
// the key nor what people wrote; a redirect from http to https would have sent
// both in the clear once already.
func sameOrigin(next *http.Request, via []*http.Request) error {
	from := via[0].URL
	if len(via) > 5 || next.Method != via[0].Method || origin(next.URL) != origin(from) {
		return http.ErrUseLastResponse
	}
	return nil
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// newTransport has no timeout for response headers: some services send them
// with the first token.
func newTransport(calls int) *http.Transport {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		t = &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second}
	}
	t = t.Clone()
	t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	t.TLSHandshakeTimeout = 10 * time.Second
	t.ResponseHeaderTimeout = 0
	t.MaxIdleConnsPerHost = max(calls, 2)
	t.DisableCompression = true // it can hold pieces of a stream back
	// A connection that a router forgot would otherwise swallow one call after
	// the other, each for its whole timeout.
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second}
	return t
}
