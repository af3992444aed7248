package bot

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// ErrUnauthorized means that Telegram refuses the token. Nothing will work
// until it is replaced.
var ErrUnauthorized = errors.New("telegram.token: Telegram refuses it; copy the current one from @BotFather")

const (
	pollGap      = 30 * time.Millisecond // between the starts of two polls, against a server that holds none
	pollGrace    = 10 * time.Second      // how long an answer may be late before a poll counts as half-open
	callPatience = 15 * time.Second      // of other calls on the same client

	firstPause     = 500 * time.Millisecond
	mostPause      = 30 * time.Second
	conflictPause  = time.Second // somebody else polls with the token
	mostConflict   = 10 * time.Second
	mostStorePause = 5 * time.Second
	conflictEvery  = time.Minute // how often it is said
)

// kinds are all updates that are asked for. The list goes with every poll: the
// server remembers the last one.
var kinds = []string{"message", "edited_message", "callback_query", "my_chat_member", "stopped_message_generation"}

// poller asks for updates for ever. What it hands on is confirmed by the next
// poll only after it was stored.
type poller struct {
	api     *api
	timeout time.Duration
	log     *slog.Logger
	// store makes a batch durable. While it fails nothing is confirmed.
	store func(ctx context.Context, raw []json.RawMessage, offset int64) error

	trouble trouble
	ahead   int64 // first number of a batch that left numbers out
}

type pollParams struct {
	Offset  int64    `json:"offset"`
	Limit   int      `json:"limit"`
	Timeout int      `json:"timeout"` // seconds
	Allowed []string `json:"allowed_updates"`
}

// run polls until ctx ends, or Telegram refuses the token.
func (p *poller) run(ctx context.Context, offset int64) error {
	for ctx.Err() == nil {
		started := time.Now()
		next, err := p.once(ctx, offset)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the error is that it was told to end
		case err == nil:
			p.trouble.over()
			offset = next
			rest(ctx, pollGap-time.Since(started))
		case unauthorized(err):
			return ErrUnauthorized
		default:
			rest(ctx, max(p.remedy(ctx, err), pollGap-time.Since(started)))
		}
	}
	return nil
}

// once makes one poll and returns the offset of the next.
func (p *poller) once(ctx context.Context, offset int64) (int64, error) {
	var raw []json.RawMessage
	poll, cancel := context.WithTimeout(ctx, p.timeout+pollGrace)
	defer cancel()
	err := p.api.call(poll, "getUpdates", pollParams{offset, 100, int(p.timeout.Seconds()), kinds}, &raw)
	if err != nil || len(raw) == 0 {
		return offset, err
	}
	// The numbering can start anew at a lower number after a week without
	// updates, so the offset follows the batch and not the highest number ever.
	var first, next int64
	for _, r := range raw {
		var u struct {
			ID int64 `json:"update_id"`
		}
		_ = json.Unmarshal(r, &u)
		next = max(next, u.ID+1)
		if u.ID > 0 && (first == 0 || u.ID < first) {
			first = u.ID
		}
	}
	if next <= 1 {
		return offset, errNoNumbers
	}
	if offset > 0 && first > offset && first != p.ahead {
		// An update that comes again can come ahead of older ones, and to
		// confirm it would drop those. So it is stored but not confirmed yet;
		// if it is the first the next time, too, it is the next.
		p.ahead, next = first, offset
	}
	if err := p.store(ctx, raw, next); err != nil {
		return offset, &storeError{err}
	}
	return next, nil
}

var errNoNumbers = errors.New("the updates have no numbers")

// storeError tells that a batch was received and not stored.
type storeError struct{ err error }

func (e *storeError) Error() string { return e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// remedy does what a failed poll asks for and says how long to wait.
func (p *poller) remedy(ctx context.Context, err error) time.Duration {
	var answer *apiError
	var store *storeError
	switch {
	case errors.As(err, &store):
		return p.trouble.began("store", "a batch of updates cannot be stored and is not confirmed", err, firstPause, mostStorePause)
	case !errors.As(err, &answer):
		return p.trouble.began("network", "Telegram cannot be reached", err, firstPause, mostPause)
	case answer.Code == http.StatusConflict && strings.Contains(strings.ToLower(answer.Description), "webhook is active"):
		wait := p.trouble.began("webhook", "a webhook is set for this bot; removing it, what waits is kept", err, firstPause, mostPause)
		call, cancel := context.WithTimeout(ctx, callPatience)
		defer cancel()
		err := p.api.call(call, "deleteWebhook", map[string]bool{"drop_pending_updates": false}, nil)
		if err == nil && wait == firstPause {
			return 0
		}
		if errors.As(err, &answer) {
			wait = max(wait, answer.RetryAfter)
		}
		return wait
	case answer.Code == http.StatusConflict:
		return p.trouble.began("conflict", "another process polls with the same token; stop it, or revoke the token with @BotFather", err, conflictPause, mostConflict)
	case answer.Code == http.StatusTooManyRequests:
		return max(p.trouble.began("flood", "Telegram asks to poll less often", err, firstPause, mostPause), answer.RetryAfter)
	case answer.Code == http.StatusNotFound:
		return p.trouble.began("not_found", "there is no Bot API for this token; check telegram.api_url and telegram.token", err, firstPause, mostPause)
	}
	return p.trouble.began("server", "Telegram's server fails", err, firstPause, mostPause)
}

func unauthorized(err error) bool {
	var answer *apiError
	return errors.As(err, &answer) && answer.Code == http.StatusUnauthorized
}

// trouble is what is wrong with polling at the moment. It is said when it
// begins, when it changes and when it is over.
type trouble struct {
	log   *slog.Logger
	kind  string // empty if nothing is
	pause time.Duration
	said  time.Time // when the log last told of another poller
}

// began notes a failure and returns how long to wait: twice as long as before
// if it is the same again.
func (t *trouble) began(kind, what string, err error, first, most time.Duration) time.Duration {
	repeated := t.kind == kind
	if repeated {
		t.pause = min(2*t.pause, most)
	} else {
		t.kind, t.pause = kind, first
	}
	now := time.Now()
	if kind == "conflict" {
		// The polls of two processes end each other, with successes in between.
		if repeated = !t.said.IsZero() && now.Sub(t.said) < conflictEvery; !repeated {
			t.said = now
		}
	}
	if !repeated {
		t.log.Warn("polling does not work; trying again", "kind", kind, "means", what, "err", err)
	}
	return t.pause
}

func (t *trouble) over() {
	if t.kind != "" {
		t.log.Info("polling again", "after", t.kind)
		t.kind = ""
	}
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
