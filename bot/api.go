package bot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	telegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"
)

// api calls the Bot API. Polls and sends have a client each, so that a poll
// that hangs cannot hold up a send. Polls are made here, because the library
// has no public getUpdates that leaves the offset to the caller; sends are the
// library's.
type api struct {
	base  string // ends before the method
	token string
	polls *http.Client
	sends *telegram.Bot
}

func newAPI(cfg Config, polls, sends http.RoundTripper) (*api, error) {
	server := strings.TrimRight(cfg.APIURL, "/")
	a := &api{
		base:  server + "/bot" + cfg.Token + "/",
		token: cfg.Token,
		polls: &http.Client{Transport: polls, CheckRedirect: noRedirect},
	}
	var err error
	a.sends, err = telegram.New(cfg.Token,
		telegram.WithSkipGetMe(),
		telegram.WithServerURL(server),
		telegram.WithHTTPClient(cfg.PollTimeout, tracker{&http.Client{Transport: sends, CheckRedirect: noRedirect}}),
		// The default handlers print whole updates and payloads.
		telegram.WithDefaultHandler(func(context.Context, *telegram.Bot, *models.Update) {}),
		telegram.WithErrorsHandler(func(error) {}),
		telegram.WithDebugHandler(func(string, ...any) {}),
	)
	if err != nil {
		return nil, a.redact(err)
	}
	return a, nil
}

// noRedirect keeps the token from being carried to another host.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// transport is what both clients use in the end; each gets its own.
func transport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	// A connection that died in silence is found out before it is used: a
	// message written to it would be in doubt.
	t.IdleConnTimeout = 45 * time.Second
	t.HTTP2 = &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 10 * time.Second}
	return t
}

// apiError is an answer of the Bot API that is no result, or no answer of it
// at all: Code is the HTTP status then.
type apiError struct {
	Code        int
	Description string
	RetryAfter  time.Duration
}

func (e *apiError) Error() string { return fmt.Sprintf("%d %s", e.Code, e.Description) }

type envelope struct {
	OK          bool            `json:"ok"`
	Result      json.RawMessage `json:"result"`
	ErrorCode   int             `json:"error_code"`
	Description string          `json:"description"`
	Parameters  struct {
		RetryAfter int64 `json:"retry_after"`
	} `json:"parameters"`
}

// mostResponse bounds what is read of an answer. telegram-bot-api cuts a batch
// of updates at about 4 MiB.
const mostResponse = 16 << 20

// call makes one request on the client for polls. Its errors hold neither the
// token nor anything of the answer but Telegram's description of an error.
func (a *api) call(ctx context.Context, method string, params, result any) error {
	body, err := json.Marshal(params)
	if err != nil {
		return fmt.Errorf("encoding %s: %w", method, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.base+method, bytes.NewReader(body))
	if err != nil {
		return a.redact(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.polls.Do(req)
	if err != nil {
		return a.redact(err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(io.LimitReader(resp.Body, mostResponse))
	if err != nil {
		return fmt.Errorf("reading the answer: %w", a.redact(err))
	}
	return a.decode(resp.StatusCode, data, result)
}

func (a *api) decode(status int, data []byte, result any) error {
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return &apiError{Code: status, Description: "the answer is not from the Bot API"}
	}
	if !e.OK {
		if e.ErrorCode == 0 {
			e.ErrorCode = status
		}
		return &apiError{
			Code: e.ErrorCode, Description: a.clean(e.Description),
			RetryAfter: time.Duration(e.Parameters.RetryAfter) * time.Second,
		}
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(e.Result, result); err != nil {
		return &apiError{Code: status, Description: "the result has an unexpected form"}
	}
	return nil
}

// redact makes an error of the network one that can be logged: without the
// URL, which holds the token.
func (a *api) redact(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	if text := err.Error(); a.clean(text) != text {
		return errors.New(a.clean(text))
	}
	return err
}

// clean takes the token out of a text, and bounds it.
func (a *api) clean(text string) string {
	for _, secret := range []string{a.token, url.PathEscape(a.token), url.QueryEscape(a.token)} {
		text = strings.ReplaceAll(text, secret, "***")
	}
	if _, secret, ok := strings.Cut(a.token, ":"); ok && len(secret) >= 8 {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return clip(text, 300)
}

// tracker notes whether anything of a request may have taken effect. The
// transport reads the body only once it has a connection to write it to, and a
// request whose body did not leave is incomplete: no server carries it out.
type tracker struct{ client *http.Client }

type trackKey struct{}

// track adds to a context the flag that tracker sets.
func track(ctx context.Context) (context.Context, *atomic.Bool) {
	left := new(atomic.Bool)
	return context.WithValue(ctx, trackKey{}, left), left
}

// Do makes the request.
func (t tracker) Do(req *http.Request) (*http.Response, error) {
	if left, ok := req.Context().Value(trackKey{}).(*atomic.Bool); ok {
		if req.Body == nil || req.Body == http.NoBody {
			left.Store(true)
		} else {
			req.Body = &watched{req.Body, left}
			if get := req.GetBody; get != nil {
				req.GetBody = func() (io.ReadCloser, error) {
					b, err := get()
					return &watched{b, left}, err
				}
			}
		}
	}
	resp, err := t.client.Do(req)
	if err == nil {
		resp.Body = bounded{io.LimitReader(resp.Body, mostResponse), resp.Body}
	}
	return resp, err
}

type watched struct {
	io.ReadCloser
	left *atomic.Bool
}

func (w *watched) Read(p []byte) (int, error) {
	w.left.Store(true)
	return w.ReadCloser.Read(p)
}

type bounded struct {
	io.Reader
	io.Closer
}

// clip bounds a text for a log or a prompt, by runes.
func clip(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "…"
		}
		n++
	}
	return s
}
