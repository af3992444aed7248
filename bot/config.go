package bot

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config is the section telegram: which bot this is and where its API is.
type Config struct {
	Token       string        `yaml:"token"`        // from @BotFather; a secret
	APIURL      string        `yaml:"api_url"`      // another one for a local Bot API server
	PollTimeout time.Duration `yaml:"poll_timeout"` // how long a poll without updates is held open
	Streaming   string        `yaml:"streaming"`    // auto: answers are shown while they are written, where the chat can; off
	MaxParts    int           `yaml:"max_parts"`    // of an answer; a longer one comes as so many messages and a file with all of it

	RichMessages bool `yaml:"rich_messages"` // send answers as rich messages, which some clients show as nothing
}

// The values of streaming.
const (
	streamingAuto = "auto"
	streamingOff  = "off"
)

// The bounds of poll_timeout. Telegram holds no poll for longer than 50 s
// (LONG_POLL_MAX_TIMEOUT of telegram-bot-api) and counts in whole seconds.
const (
	minPollTimeout = time.Second
	maxPollTimeout = 50 * time.Second
)

// DefaultConfig is the configuration for all that is not set. It lacks a token.
func DefaultConfig() Config {
	return Config{APIURL: "https://api.telegram.org", PollTimeout: maxPollTimeout, Streaming: streamingAuto, MaxParts: 10}
}

// Format prints the section without the token, whatever the verb.
func (c Config) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "{%s *** %s}", c.APIURL, c.PollTimeout)
}

// MarshalText does the same for encoders, loggers' among them.
func (c Config) MarshalText() ([]byte, error) { return fmt.Append(nil, c), nil }

// Validate names every setting that cannot work and what to write instead. No
// value is repeated: it could be the token.
func (c Config) Validate() error {
	var errs []error
	if strings.TrimSpace(c.Token) == "" {
		errs = append(errs, errors.New("telegram.token: is missing; make a bot with @BotFather and put its token here"))
	} else if _, err := BotID(c.Token); err != nil {
		errs = append(errs, fmt.Errorf("telegram.token: %w", err))
	}
	if err := checkURL(c.APIURL); err != nil {
		errs = append(errs, fmt.Errorf("telegram.api_url: %w", err))
	}
	if c.PollTimeout < minPollTimeout || c.PollTimeout > maxPollTimeout {
		errs = append(errs, errors.New("telegram.poll_timeout: must be from 1s to 50s; 50s is a good value"))
	}
	if c.Streaming != streamingAuto && c.Streaming != streamingOff {
		errs = append(errs, errors.New("telegram.streaming: must be auto or off"))
	}
	if c.MaxParts < 1 || c.MaxParts > 100 {
		errs = append(errs, errors.New("telegram.max_parts: must be from 1 to 100; 10 is a good value"))
	}
	return errors.Join(errs...)
}

// checkURL does not wrap what url.Parse returns: it repeats the URL.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return errors.New("is not an absolute http(s) URL; the public one is https://api.telegram.org")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return errors.New("must hold nothing but scheme, host and path, like https://api.telegram.org")
	}
	return nil
}

// BotID reads the identity of a bot from its token, 123456:ABC…
func BotID(token string) (int64, error) {
	digits, secret, found := strings.Cut(token, ":")
	id, err := strconv.ParseInt(digits, 10, 64)
	if !found || err != nil || id <= 0 || secret == "" || strings.ContainsFunc(secret, notInToken) {
		return 0, errors.New("is not a bot token; copy it from @BotFather whole, like 123456:ABC-DEF")
	}
	return id, nil
}

func notInToken(r rune) bool {
	return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}

// AccessConfig is the section access: who may talk to the bot. With neither
// open nor a list, the first start prints a code that makes whoever sends it
// the owner.
type AccessConfig struct {
	Open   bool    `yaml:"open"`   // everybody may, everywhere: others spend the model's tokens
	Users  []int64 `yaml:"users"`  // in private chats
	Groups []int64 `yaml:"groups"` // everybody in them
}

// DefaultAccessConfig admits nobody.
func DefaultAccessConfig() AccessConfig { return AccessConfig{} }

// Validate finds ids that are none, and lists that mean nothing.
func (c AccessConfig) Validate() error {
	var errs []error
	if slices.ContainsFunc(c.Users, func(id int64) bool { return id <= 0 }) {
		errs = append(errs, errors.New("access.users: ids of users are positive; ids of groups belong into access.groups"))
	}
	if slices.ContainsFunc(c.Groups, func(id int64) bool { return id >= 0 }) {
		errs = append(errs, errors.New("access.groups: ids of groups are negative, like -1001234567890; ids of users belong into access.users"))
	}
	if c.Open && len(c.Users)+len(c.Groups) > 0 {
		errs = append(errs, errors.New("access.open: lets everybody in, so access.users and access.groups would mean nothing; keep the one or the others"))
	}
	return errors.Join(errs...)
}

// listed reports whether the configuration admits somebody.
func (c AccessConfig) listed() bool { return c.Open || len(c.Users)+len(c.Groups) > 0 }
