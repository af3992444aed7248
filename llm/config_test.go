package llm

import (
	"math"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"
)

func TestDefaultNeedsOnlyAModel(t *testing.T) {
	cfg := Default()
	if err := cfg.Validate(); err == nil || !strings.HasPrefix(err.Error(), "llm.model: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	cfg.Model = "some-model"
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}

func TestValidate(t *testing.T) {
	temperature := func(f float64) func(*Config) {
		return func(c *Config) { v := float32(f); c.Temperature = &v }
	}
	for _, tt := range []struct {
		key string
		set func(*Config)
	}{
		{"base_url", func(c *Config) { c.BaseURL = "" }},
		{"base_url", func(c *Config) { c.BaseURL = testKey }},
		{"base_url", func(c *Config) { c.BaseURL = "api.openai.com/v1" }},
		{"base_url", func(c *Config) { c.BaseURL = "ftp://" + testKey }},
		{"base_url", func(c *Config) { c.BaseURL = "https://" }},
		{"base_url", func(c *Config) { c.BaseURL = "http://%" + testKey }},
		{"base_url", func(c *Config) { c.BaseURL = "https://me:" + testKey + "@llm.test/v1" }},
		{"base_url", func(c *Config) { c.BaseURL = "https://llm.test/v1#" + testKey }},
		{"base_url", func(c *Config) { c.BaseURL = "https://llm.test/v1/chat/completions/" }},
		{"api_key", func(c *Config) { c.APIKey += "\n" }},
		{"api_key", func(c *Config) { c.APIKey = "“" + testKey + "”" }},
		{"model", func(c *Config) { c.Model = " " }},
		{"temperature", temperature(-0.1)},
		{"temperature", temperature(2.1)},
		{"temperature", temperature(math.NaN())},
		{"max_tokens", func(c *Config) { c.MaxTokens = -1 }},
		{"max_tokens_field", func(c *Config) { c.MaxTokensField = testKey }},
		{"first_token_timeout", func(c *Config) { c.FirstTokenTimeout = 0 }},
		{"idle_timeout", func(c *Config) { c.IdleTimeout = -time.Second }},
		{"total_timeout", func(c *Config) { c.TotalTimeout = 0 }},
		{"total_timeout: is shorter than llm.first_token_timeout", func(c *Config) { c.TotalTimeout = time.Minute }},
		{"max_concurrent", func(c *Config) { c.MaxConcurrent = 0 }},
		{"retries", func(c *Config) { c.Retries = -1 }},
		{"context_tokens", func(c *Config) { c.ContextTokens = 0 }},
	} {
		cfg := testConfig()
		tt.set(&cfg)
		err := cfg.Validate()
		if err == nil || !strings.HasPrefix(err.Error(), "llm."+tt.key) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", tt.key, err)
			continue
		}
		secretive(t, err, "")
	}
	if err := (Config{}).Validate(); strings.Count(err.Error(), "\n") < 6 {
		t.Errorf("not all errors at once: %v", err)
	}
	zero := testConfig()
	temperature(0)(&zero)
	if err := zero.Validate(); err != nil {
		t.Error(err)
	}
}

func TestConfigFromYAML(t *testing.T) {
	cfg := Default()
	err := yaml.Unmarshal([]byte(`
base_url: http://localhost:11434/v1
api_key: `+testKey+`
model: llama3
system_prompt: Be kind.
temperature: 0
max_tokens: 500
max_tokens_field: max_completion_tokens
first_token_timeout: 90s
idle_timeout: 1500ms
total_timeout: 5m
retries: 1
max_concurrent: 2
context_tokens: 8000
`), &cfg)
	if err != nil {
		t.Fatal(err)
	}
	if cfg.APIKey != testKey || cfg.Temperature == nil || *cfg.Temperature != 0 || cfg.IdleTimeout != 1500*time.Millisecond ||
		cfg.MaxTokens != 500 || cfg.MaxTokensField != maxCompletionTokens || cfg.Retries != 1 || cfg.MaxConcurrent != 2 || cfg.ContextTokens != 8000 {
		t.Errorf("got %+v", cfg)
	}
	if err := cfg.Validate(); err != nil {
		t.Error(err)
	}
}
