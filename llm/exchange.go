package llm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"lastword/conversation"
)

// exchange makes one call, which has a place already.
func (c *Client) exchange(ctx context.Context, body chatRequest, progress func(string)) (conversation.Completion, error) {
	start := time.Now()
	call, w := newWatch(ctx, c.cfg)
	defer w.stop()
	call, asked := track(call)
	resp, err := c.open(call, body)
	if err != nil {
		err = because(ctx, call, err)
		if ctx.Err() != nil && !asked.Load() {
			err = fmt.Errorf("%w: %w", conversation.ErrNotAsked, err)
		}
		return conversation.Completion{}, err
	}
	defer resp.Body.Close()
	// net/http ends a read whose context ended; not every transport does.
	defer context.AfterFunc(call, func() { resp.Body.Close() })()

	var done conversation.Completion
	a := new(answer)
	err = follow(newEvents(resp.Body), a, w, func(text string) {
		if done.FirstToken == 0 {
			done.FirstToken = time.Since(start)
		}
		if progress != nil {
			progress(text)
		}
	})
	if a.fault != nil {
		return conversation.Completion{}, because(ctx, call, c.refusal(0, *a.fault, nil))
	}
	if !a.complete() {
		if errors.Is(err, io.EOF) && !a.known {
			err = errNone
		}
		return conversation.Completion{}, because(ctx, call, err)
	}
	if !a.done && ctx.Err() != nil {
		return conversation.Completion{}, ended(ctx)
	}
	if done.Text, err = a.verdict(); err != nil {
		return conversation.Completion{}, err
	}
	done.Tokens = a.tokens
	done.Took = time.Since(start)
	if done.FirstToken == 0 { // all of it was held back until the end
		done.FirstToken = done.Took
	}
	drain(resp.Body, w)
	return done, nil
}

// track notes whether a request has left.
func track(ctx context.Context) (context.Context, *atomic.Bool) {
	left := new(atomic.Bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) { left.Store(left.Load() || info.Err == nil) },
	}), left
}

// follow reads an answer until it is over or broken, and shows its text each
// time it grows.
func follow(from *events, a *answer, w *watch, show func(text string)) error {
	for !a.done && a.fault == nil {
		e, err := from.next()
		if err != nil {
			return err // io.EOF too: if the answer is not complete now, it was cut
		}
		length, over := len(a.text.shown()), a.over
		alive, err := a.take(e)
		if err != nil {
			return err
		}
		text := a.text.shown()
		if len(text) > length {
			w.pause()
			show(text)
		}
		switch {
		case alive && !a.over:
			w.alive()
		case a.over && !(over && len(text) == length):
			w.linger()
		}
	}
	return nil
}

// open sends the request and returns a response that holds an answer.
func (c *Client) open(ctx context.Context, body chatRequest) (*http.Response, error) {
	for {
		withOptions := !c.noOptions.Load()
		resp, err := c.post(ctx, body, withOptions)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode/100 == 2 {
			return resp, nil
		}
		f := readFault(resp)
		if withOptions && f.refuses(resp.StatusCode, "stream_options", "include_usage") {
			c.noOptions.Store(true)
			c.log.Warn("the model's service refuses stream_options: token counts will be missing", "status", resp.StatusCode)
			continue
		}
		return nil, c.refusal(resp.StatusCode, f, resp.Header)
	}
}

// drain reads what little follows an answer, so that the connection can be
// used again. It does not wait for a service that keeps it open.
func drain(body io.Reader, w *watch) {
	w.expect(50 * time.Millisecond)
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}

// because finds out why a call ended with an error: the caller left, a timeout
// cancelled it, the service refused it, or the connection broke.
func because(ctx, call context.Context, err error) error {
	if ctx.Err() != nil {
		return ended(ctx)
	}
	var known *conversation.ModelError
	switch cause := context.Cause(call); {
	case cause != nil:
		return temporary(cause)
	case errors.As(err, &known):
		return known
	default:
		return temporary(describe(err))
	}
}

func temporary(err error) error {
	return &conversation.ModelError{Kind: conversation.Temporary, Err: err}
}
