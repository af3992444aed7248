package llm

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lastword/conversation"
)

var (
	errNoPrompt = errors.New("the prompt has no text")
	errCut      = errors.New("the answer broke off before its end")
)

// serviceError is the error of a service in words that can be logged.
type serviceError struct {
	status int      // 0 in the middle of an answer, unless the error names one
	codes  []string // what the service calls it
	hint   string   // what to do about it
}

func (e *serviceError) Error() string {
	s := "the service reported an error in its answer"
	if e.status != 0 {
		s = fmt.Sprintf("the service answered with status %d", e.status)
	}
	if len(e.codes) > 0 {
		s += " (" + strings.Join(e.codes, ", ") + ")"
	}
	if e.hint != "" {
		s += ": " + e.hint
	}
	return s
}

// refusal turns an error of the service into one for the engine. status is 0
// and header nil for an error in the middle of an answer.
func (c *Client) refusal(status int, f fault, header http.Header) error {
	if status == 0 {
		status = f.status
	}
	e := &serviceError{status: status, hint: hint(status, f)}
	for _, code := range []string{f.code, f.kind} {
		if c.harmless(code) && (len(e.codes) == 0 || e.codes[0] != code) {
			e.codes = append(e.codes, code)
		}
	}
	return &conversation.ModelError{Kind: kind(status, f), RetryAfter: retryAfter(header), Err: e}
}

var identifier = regexp.MustCompile(`^[a-z0-9_.-]{1,64}$`)

// harmless reports whether a code can be logged: it looks like one, and is
// neither the key nor a piece of it.
func (c *Client) harmless(code string) bool {
	if !identifier.MatchString(code) {
		return false
	}
	key := strings.ToLower(string(c.key()))
	if key == "" {
		return true
	}
	return !strings.Contains(code, key) && !(len(code) > 5 && strings.Contains(key, code))
}

// kind decides what the engine makes of an error.
func kind(status int, f fault) conversation.ModelErrorKind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired,
		f.is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "invalid_api_key", "authentication_error", "permission_error"):
		return conversation.Denied
	case status == http.StatusTooManyRequests: // "too many tokens" is about a minute's tokens here
		return conversation.Temporary
	case status == http.StatusRequestEntityTooLarge, f.tooBig():
		return conversation.ContextTooBig
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly:
		return conversation.Temporary
	case status >= 300 && status < 500:
		return conversation.Rejected
	default:
		return conversation.Temporary
	}
}

// hint says what an operator can do, in words of this package.
func hint(status int, f fault) string {
	switch {
	case status >= 300 && status < 400:
		return "it wants the request elsewhere; correct llm.base_url"
	case status == http.StatusUnauthorized:
		return "check llm.api_key"
	case status == http.StatusNotFound:
		return "check llm.model and llm.base_url"
	case f.refuses(status, maxCompletionTokens):
		return "check llm.max_tokens_field"
	case f.refuses(status, "temperature"):
		return "check llm.temperature"
	}
	return ""
}

// retryAfter reads how long a service wants to be left alone. A day is the most
// that is believed.
func retryAfter(h http.Header) time.Duration {
	const most = 24 * time.Hour
	number := func(name string, unit time.Duration) (time.Duration, bool) {
		n, err := strconv.ParseFloat(strings.TrimSpace(h.Get(name)), 64)
		if err != nil || !(n >= 0) {
			return 0, false
		}
		return time.Duration(min(n*float64(unit), float64(most))), true
	}
	if d, ok := number("Retry-After-Ms", time.Millisecond); ok {
		return d
	}
	if d, ok := number("Retry-After", time.Second); ok {
		return d
	}
	if at, err := http.ParseTime(h.Get("Retry-After")); err == nil {
		return min(max(time.Until(at), 0), most)
	}
	return 0
}

// describe words a broken connection anew. What net/http says can repeat the
// URL, or bytes that the service sent.
func describe(err error) error {
	var outer *url.Error
	if errors.As(err, &outer) {
		err = outer.Err
	}
	var dns *net.DNSError
	var timeout net.Error
	var op *net.OpError
	var errno syscall.Errno
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	for _, own := range []error{errPage, errForm, errNone, errTooLong, errEventSize} {
		if errors.Is(err, own) {
			return own
		}
	}
	switch {
	case errors.As(err, &dns):
		return errors.New("connecting: the service's name does not resolve")
	case errors.As(err, &certificate):
		return errors.New("connecting: the service's certificate is not valid or not trusted")
	case errors.As(err, &record), errors.Is(err, http.ErrSchemeMismatch):
		return errors.New("connecting: the service does not speak TLS; is it http, not https?")
	case errors.As(err, &errno) && errors.As(err, &op) && op.Op == "dial":
		return fmt.Errorf("connecting: %w", errno)
	case errors.As(err, &errno):
		return fmt.Errorf("connection lost: %w", errno)
	case errors.As(err, &timeout) && timeout.Timeout():
		return errors.New("connecting: timeout")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	default:
		return fmt.Errorf("connection lost (%T)", err)
	}
}
