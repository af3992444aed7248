package llm

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
)

// Config says which model to ask and how long to wait for it.
type Config struct {
	BaseURL      string `yaml:"base_url"` // without /chat/completions
	APIKey       Secret `yaml:"api_key"`  // empty for services that want none
	Model        string `yaml:"model"`
	SystemPrompt string `yaml:"system_prompt"` // goes before every prompt; empty for none

	Temperature    *float32 `yaml:"temperature"`      // nil leaves it to the service: some models take none
	MaxTokens      int      `yaml:"max_tokens"`       // of an answer; 0 leaves it to the service
	MaxTokensField string   `yaml:"max_tokens_field"` // what the service calls it: "max_tokens", "max_completion_tokens"

	FirstTokenTimeout time.Duration `yaml:"first_token_timeout"` // from the request to the first sign of life
	IdleTimeout       time.Duration `yaml:"idle_timeout"`        // from one sign of life to the next
	TotalTimeout      time.Duration `yaml:"total_timeout"`       // of a call

	MaxConcurrent int `yaml:"max_concurrent"` // calls in flight, of all conversations together

	// These two are for the engine, which makes the prompt and decides what a
	// failed call means.
	Retries       int `yaml:"retries"`        // further tries of a call that failed in passing
	ContextTokens int `yaml:"context_tokens"` // budget of a prompt
}

// The fields that a service may want the limit of an answer in. Older and
// local services know only the first; OpenAI's reasoning models only the second.
const (
	maxTokens           = "max_tokens"
	maxCompletionTokens = "max_completion_tokens"
)

// Default is the configuration for all that is not set. It lacks a model.
func Default() Config {
	return Config{
		BaseURL:           "https://api.openai.com/v1",
		MaxTokensField:    maxTokens,
		FirstTokenTimeout: 2 * time.Minute,
		IdleTimeout:       12 * time.Second,
		TotalTimeout:      10 * time.Minute,
		MaxConcurrent:     8,
		Retries:           3,
		ContextTokens:     16000,
	}
}

// Validate names every setting that cannot work and what to write instead. No
// value is repeated: one put under the wrong key could be a secret.
func (c Config) Validate() error {
	var errs []error
	reject := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("llm."+format, args...))
		}
	}
	if err := checkURL(c.BaseURL); err != nil {
		errs = append(errs, fmt.Errorf("llm.base_url: %w", err))
	}
	reject(strings.ContainsFunc(string(c.APIKey), notInHeader),
		"api_key: has white space or special characters in it; copy the key alone, without quotes or a line break")
	reject(strings.TrimSpace(c.Model) == "", "model: is missing; name a model that the service offers")
	if c.Temperature != nil {
		reject(!(*c.Temperature >= 0 && *c.Temperature <= 2), "temperature: must be from 0 to 2; leave it out for the service's default")
	}
	reject(c.MaxTokens < 0, "max_tokens: must not be negative; 0 leaves the limit to the service")
	reject(c.MaxTokensField != maxTokens && c.MaxTokensField != maxCompletionTokens,
		"max_tokens_field: must be %s or %s", maxTokens, maxCompletionTokens)
	reject(c.FirstTokenTimeout <= 0, "first_token_timeout: must be more than 0, like 120s")
	reject(c.IdleTimeout <= 0, "idle_timeout: must be more than 0, like 60s")
	reject(c.TotalTimeout <= 0, "total_timeout: must be more than 0, like 10m")
	reject(c.TotalTimeout > 0 && c.TotalTimeout < c.FirstTokenTimeout,
		"total_timeout: is shorter than llm.first_token_timeout; raise the one or lower the other")
	reject(c.MaxConcurrent < 1, "max_concurrent: must be at least 1")
	reject(c.Retries < 0, "retries: must not be negative; 0 means that a failed call is not tried again")
	reject(c.ContextTokens < 1, "context_tokens: must be at least 1; use what the model's context holds, less the answer")
	return errors.Join(errs...)
}

// checkURL does not wrap what url.Parse returns: it repeats the URL.
func checkURL(s string) error {
	u, err := url.Parse(s)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "":
		return errors.New("is not an absolute http(s) URL; write one like https://api.openai.com/v1")
	case u.User != nil:
		return errors.New("must not hold a user name or password; put the key into llm.api_key")
	case u.Fragment != "":
		return errors.New("must not have a # in it; remove it and what follows")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return errors.New("must not end with /chat/completions; remove that")
	}
	return nil
}

func notInHeader(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || r == 0x7f }
