package web

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lastword/conversation"
)

func TestConfig(t *testing.T) {
	change := func(f func(*Config)) Config {
		c := DefaultConfig()
		f(&c)
		return c
	}
	for _, x := range []struct {
		config Config
		wrong  string // the setting that is to blame
	}{
		{DefaultConfig(), ""},
		{change(func(c *Config) { c.Listen = "127.0.0.1:0" }), ""},
		{change(func(c *Config) { c.Listen = "localhost:8080" }), ""},
		{change(func(c *Config) { c.Listen, c.Origins = ":8080", []string{"https://chat.example.com"} }), ""},
		{change(func(c *Config) { c.Listen = ":8080" }), "web.origins"},
		{change(func(c *Config) { c.Listen = "8080" }), "web.listen"},
		{change(func(c *Config) { c.Origins = []string{"*"} }), "web.origins[0]"},
		{change(func(c *Config) { c.Origins = []string{"http://a", "https://a.example/"} }), "web.origins[1]"},
		{change(func(c *Config) { c.Origins = []string{"https://a.example:443"} }), "web.origins[0]"},
		{change(func(c *Config) { c.Origins = []string{"https://A.example"} }), "web.origins[0]"},
		{change(func(c *Config) { c.Connections = "many" }), "web.connections"},
		{change(func(c *Config) { c.MaxConnections = 0 }), "web.max_connections"},
		{change(func(c *Config) { c.MaxMessage = 30_000 }), "web.max_message"},
	} {
		err := x.config.Validate()
		if (err != nil) != (x.wrong != "") || err != nil && !strings.HasPrefix(err.Error(), x.wrong+": ") {
			t.Errorf("%+v: %v, want %q", x.config, err, x.wrong)
		}
	}
}

// The longest message fits into a frame in the longest form that JSON has.
func TestLongestMessageFits(t *testing.T) {
	if n := mostMessage * len(`\ud83d\ude00`); n >= readLimit {
		t.Errorf("a message of %d characters can have %d bytes", mostMessage, n)
	}
}

func TestCompose(t *testing.T) {
	s := &Server{}
	long := strings.Repeat("слово 😀 ", 8000)
	parts := s.Compose(long)
	if len(parts) < 2 {
		t.Fatalf("%d parts", len(parts))
	}
	var words []string
	for _, p := range parts {
		if len(p.Text) > mostPart || !utf8.ValidString(p.Text) || strings.TrimSpace(p.Text) == "" {
			t.Errorf("a part of %d bytes", len(p.Text))
		}
		words = append(words, strings.Fields(p.Text)...)
	}
	if !slices.Equal(words, strings.Fields(long)) {
		t.Error("the parts are not the text")
	}
	for _, text := range []string{"", " \n", strings.Repeat("я", mostPart), "a"} {
		for _, p := range s.Compose(text) {
			if p.Text == "" || len(p.Text) > mostPart || !utf8.ValidString(p.Text) {
				t.Errorf("a part of %d bytes", len(p.Text))
			}
		}
	}
}

// A claim is the same before and after a crash, and different for another part.
func TestClaim(t *testing.T) {
	p := conversation.Part{Text: "a", State: conversation.Claimed, Above: 7}
	after := p
	after.State, after.Since, after.Attempts = conversation.Unknown, time.Now(), 3
	if claim(p) == "" || claim(p) != claim(after) {
		t.Error("a crash changes the claim")
	}
	for _, o := range []conversation.Part{
		{Text: "b", State: conversation.Claimed, Above: 7}, {Text: "a", State: conversation.Claimed, Above: 8},
		{Text: "a", State: conversation.Claimed, Above: 7, Buttons: []conversation.Button{{Label: "x"}}},
	} {
		if claim(o) == claim(p) {
			t.Errorf("%+v has the same claim", o)
		}
	}
	if claim(conversation.Part{Text: "a"}) != "" {
		t.Error("a notice has a claim")
	}
}

// Each language has all words, and formats take what they are given.
func TestWords(t *testing.T) {
	codes := []conversation.NoticeCode{
		conversation.ResetDone, conversation.NothingToDrop, conversation.StopDone, conversation.StopDropped, conversation.StopRest,
		conversation.NothingToStop, conversation.StatusReport, conversation.Failed, conversation.TooLong, conversation.Unanswerable,
		conversation.Undelivered, conversation.Halted, conversation.Doubtful, conversation.Working,
	}
	status := &conversation.Status{Waiting: 2, Recent: []conversation.JournalEntry{{Outcome: conversation.WasSent}}}
	for _, language := range []string{"en", "ru", "zh"} {
		for f, v := range reflect.ValueOf(*wordsFor(language)).Fields() {
			if v.Kind() == reflect.String && v.String() == "" {
				t.Errorf("%s: no %s", language, f.Name)
			}
		}
		for _, code := range codes {
			text := noticeText(conversation.Notice{Code: code, Language: language, ID: "abc", Status: status}, time.Now())
			if text == "" || strings.Contains(text, "%!") {
				t.Errorf("%s: %s is %q", language, code, text)
			}
		}
		for _, code := range []conversation.NoticeCode{conversation.Outdated, conversation.Redoing, conversation.Busy, conversation.Showing} {
			if toastText(conversation.Notice{Code: code, Language: language}) == "" {
				t.Errorf("%s: no answer %s", language, code)
			}
		}
	}
	if wordsFor("zh_CN") != &chinese || wordsFor("pt-br") != &english {
		t.Error("the wrong language is chosen")
	}
}

func TestOrigins(t *testing.T) {
	if got := fmt.Sprint(Config{}.origins("127.0.0.1:80")); got != "[http://127.0.0.1 http://localhost http://[::1]]" {
		t.Errorf("on port 80: %s", got)
	}
	if got := (Config{Origins: []string{"https://a"}}).origins("0.0.0.0:1"); len(got) != 1 || got[0] != "https://a" {
		t.Errorf("a list: %q", got)
	}
}
