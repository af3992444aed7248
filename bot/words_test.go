package bot

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
)

var codes = []conversation.NoticeCode{
	conversation.Said, conversation.ResetDone, conversation.NothingToDrop, conversation.StopDone, conversation.StopDropped,
	conversation.StopRest, conversation.NothingToStop, conversation.StatusReport, conversation.Failed, conversation.TooLong,
	conversation.Unanswerable, conversation.Undelivered, conversation.Doubtful,
}

func TestEveryNoticeHasWords(t *testing.T) {
	r := newRig(t, open())
	for _, language := range append(languages(), "", "pt-br", "zh-hans", "RU") {
		texts := map[string]conversation.NoticeCode{}
		for _, code := range codes {
			p := r.Word(conversation.Notice{Code: code, Language: language, ID: "3f9a2c", Text: "hello"})
			if strings.TrimSpace(p.Text) == "" || strings.Contains(p.Text, "%!") {
				t.Errorf("%s in %q: %q", code, language, p.Text)
			}
			if other, taken := texts[p.Text]; taken {
				t.Errorf("%s and %s read alike in %q", code, other, language)
			}
			texts[p.Text] = code
			switch code {
			case conversation.Failed, conversation.TooLong, conversation.Unanswerable, conversation.Undelivered, conversation.Doubtful:
				if !strings.Contains(p.Text, "3f9a2c") {
					t.Errorf("%s in %q has no id", code, language)
				}
			}
		}
	}
	if r.Word(conversation.Notice{Code: conversation.StopDone, Language: "zh-hans"}).Text != chinese.stopDone {
		t.Error("a regional tag does not find its language")
	}
}

func TestWordsAreComplete(t *testing.T) {
	outcomes := []conversation.Outcome{
		conversation.WasSent, conversation.WasStale, conversation.WasSuperseded, conversation.WasWithdrawn,
		conversation.WasStopped, conversation.WasFailed, conversation.LeaseLost,
	}
	for _, code := range languages() {
		w := byLanguage[code]
		v, e := reflect.ValueOf(*w), reflect.ValueOf(english)
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Field(i).Name
			if f.Kind() != reflect.String {
				continue
			}
			if strings.TrimSpace(f.String()) == "" {
				t.Errorf("%s: %s is missing", code, name)
			}
			for _, verb := range []string{"%s", "%d", "%.1f"} {
				if strings.Count(f.String(), verb) != strings.Count(e.Field(i).String(), verb) {
					t.Errorf("%s: %s has other places than in English", code, name)
				}
			}
		}
		for _, o := range outcomes {
			if w.outcomes[o] == "" {
				t.Errorf("%s: outcome %s is missing", code, o)
			}
		}
		for _, c := range registered {
			if n := len([]rune(w.commands[c])); n == 0 || n > 256 {
				t.Errorf("%s: the description of /%s has %d characters", code, c, n)
			}
		}
		if len([]rune(w.outdated)) > 200 {
			t.Errorf("%s: the answer to a button is too long", code)
		}
	}
}

func TestStatus(t *testing.T) {
	now := time.Now()
	text := noticeText(conversation.Notice{Code: conversation.StatusReport, Status: &conversation.Status{
		Version: 12, Waiting: 2, Working: true, Tokens: conversation.Tokens{Prompt: 300, Completion: 40},
		Recent: []conversation.JournalEntry{
			{At: now, Outcome: conversation.WasSent, Meter: conversation.Meter{Took: 2500 * time.Millisecond}},
			{At: now.Add(-90 * time.Second), Outcome: conversation.WasFailed, ID: "3f9a2c"},
			{At: now.Add(-72 * time.Hour), Outcome: "of_later"},
		},
	}}, now)
	for _, want := range []string{"working on an answer", ": 2", "300 read, 40 written", ": 12", "answered, just now, took 2.5 s", "failed, 1 min ago (3f9a2c)", "of_later, 3 days ago"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func TestConfig(t *testing.T) {
	good := DefaultConfig()
	good.Token = testToken
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no token":   {func(c *Config) { c.Token = "" }, "telegram.token: is missing"},
		"half token": {func(c *Config) { c.Token = testSecret }, "telegram.token: is not a bot token"},
		"odd token":  {func(c *Config) { c.Token = "42:" + testSecret + "/x" }, "telegram.token: is not a bot token"},
		"no url":     {func(c *Config) { c.APIURL = testToken }, "telegram.api_url"},
		"query":      {func(c *Config) { c.APIURL = "http://x/?" + testSecret }, "telegram.api_url"},
		"too short":  {func(c *Config) { c.PollTimeout = 0 }, "telegram.poll_timeout"},
		"too long":   {func(c *Config) { c.PollTimeout = time.Minute }, "telegram.poll_timeout"},
	} {
		c := good
		tt.change(&c)
		err := c.Validate()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), testSecret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, c := range []AccessConfig{{Users: []int64{-5}}, {Groups: []int64{5}}, {Open: true, Users: []int64{5}}} {
		if c.Validate() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if id, err := BotID(testToken); id != 42 || err != nil {
		t.Errorf("%d, %v", id, err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%d", "%x"} {
		for _, v := range []any{good, &good, struct{ Telegram Config }{good}, newRig(t, open()).Bot} {
			if s := fmt.Sprintf(verb, v); strings.Contains(s, testSecret) || strings.Contains(s, fmt.Sprintf("%x", testSecret)) {
				t.Errorf("%s of %T shows the token", verb, v)
			}
		}
	}
}
