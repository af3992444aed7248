package llm

import (
	"context"
	"errors"
	"time"
)

var (
	errNoFirst = errors.New("no answer began within llm.first_token_timeout")
	errIdle    = errors.New("the answer stalled for llm.idle_timeout")
	errTotal   = errors.New("the answer took longer than llm.total_timeout")
)

// lingering is how long the rest of a stream is waited for when the answer has
// ended: token counts and [DONE] follow at once, or never.
const lingering = 2 * time.Second

// watch cancels the context of a call when the service takes too long. The
// context's cause says which limit it was.
type watch struct {
	cancel context.CancelCauseFunc
	idle   time.Duration
	total  *time.Timer
	next   *time.Timer // to the next sign of life; nil before the first
	first  *time.Timer
}

func newWatch(ctx context.Context, cfg Config) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watch{
		cancel: cancel,
		idle:   cfg.IdleTimeout,
		total:  time.AfterFunc(cfg.TotalTimeout, func() { cancel(errTotal) }),
		first:  time.AfterFunc(cfg.FirstTokenTimeout, func() { cancel(errNoFirst) }),
	}
}

// alive notes a sign of life.
func (w *watch) alive() { w.expect(w.idle) }

// linger notes that nothing that matters will follow.
func (w *watch) linger() { w.expect(min(w.idle, lingering)) }

func (w *watch) expect(within time.Duration) {
	w.first.Stop()
	if w.next == nil {
		w.next = time.AfterFunc(within, func() { w.cancel(errIdle) })
		return
	}
	w.next.Reset(within)
}

// pause keeps time that is not the service's from being counted as its silence.
func (w *watch) pause() {
	w.first.Stop()
	if w.next != nil {
		w.next.Stop()
	}
}

// stop ends the call's context, which closes its connection if it is in use.
func (w *watch) stop() {
	w.pause()
	w.total.Stop()
	w.cancel(nil)
}
