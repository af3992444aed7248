package bot

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"lastword/conversation"
)

// TestPressData: what is written under a message is read back, in its own chat
// and topic and nowhere else, and fits into a button.
func TestPressData(t *testing.T) {
	home := conversation.Key{Channel: Channel, Bot: 42, Chat: -1001234567890, Thread: 17}
	incarnation := strings.Repeat("0123456789ab", 2)
	for _, p := range []conversation.Press{
		{Do: conversation.Regenerate, Incarnation: incarnation, Turn: 1, Generation: 2},
		{Do: conversation.TurnPage, Incarnation: incarnation, Turn: 1 << 33, Generation: 1 << 33, Page: 10},
		{Do: conversation.ShowAnswer, Incarnation: incarnation, Turn: 99, Generation: 100},
		{Do: conversation.StopAnswer, Incarnation: incarnation, Turn: 5, Generation: 6},
	} {
		data := pressData(home, p)
		if len(data) > mostData {
			t.Errorf("%q has %d bytes", data, len(data))
		}
		if got := readPress(home, data); got != p {
			t.Errorf("%q is read as %+v", data, got)
		}
		for _, k := range []conversation.Key{
			{Channel: Channel, Bot: 42, Chat: -1001234567890}, {Channel: Channel, Bot: 43, Chat: -1001234567890, Thread: 17},
			{Channel: Channel, Bot: 42, Chat: -1001234567891, Thread: 17},
		} {
			if got := readPress(k, data); got != (conversation.Press{}) {
				t.Errorf("%q means %+v in %s", data, got, k)
			}
		}
	}
}

func FuzzPressData(f *testing.F) {
	k := key(7)
	good := pressData(k, conversation.Press{Do: conversation.TurnPage, Incarnation: "abc", Turn: 36, Generation: 37, Page: 2})
	for _, data := range []string{good, good + "0", good[1:], "", ".....", "r." + place(k) + ".a.-1.1", "r." + place(k) + ".a.01.1", "p." + place(k) + ".a.1.1.+2"} {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data string) {
		p := readPress(k, data)
		if p != (conversation.Press{}) && pressData(k, p) != data {
			t.Errorf("%q is read as %+v, which is written %q", data, p, pressData(k, p))
		}
	})
}

// TestPresses: every press becomes an event, so that it is answered; what a
// stranger presses, what was made up and what belongs to another chat asks for
// nothing.
func TestPresses(t *testing.T) {
	press := conversation.Press{Do: conversation.Regenerate, Incarnation: "abc", Turn: 1, Generation: 2}
	data := pressData(key(7), press)
	update := func(chat int64, rest string) string {
		return fmt.Sprintf(`{"update_id":5,"callback_query":{"id":"cb1","from":{"id":7,"first_name":"Ann","language_code":"ru"},`+
			`"message":{"message_id":12,"date":0,"chat":{"id":%d,"type":"private"}},%s}}`, chat, rest)
	}
	for name, tt := range map[string]struct {
		raw  string
		want string
	}{
		"current":      {update(7, fmt.Sprintf(`"data":%q`, data)), "telegram/42/7/0 12 regenerate"},
		"another chat": {update(8, fmt.Sprintf(`"data":%q`, data)), "telegram/42/8/0 12 "},
		"made up":      {update(7, `"data":"retry"`), "telegram/42/7/0 12 "},
		"no data":      {update(7, `"game_short_name":"x"`), "telegram/42/7/0 12 "},
		"odd data":     {update(7, `"data":5`), "telegram/42/7/0 12 "},
		"a stranger":   {update(66, fmt.Sprintf(`"data":%q`, pressData(key(66), press))), "telegram/42/66/0 12 "},
		"no message":   {`{"update_id":5,"callback_query":{"id":"cb1","from":{"id":7,"first_name":"Ann"},"inline_message_id":"x","data":"y"}}`, "telegram/42/7/0 0 "},
		"no id":        {`{"update_id":5,"callback_query":{"from":{"id":7,"first_name":"Ann"}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tr := testTranslator(AccessConfig{Users: []int64{7, 8}})
			a, ok, err := tr.update(json.RawMessage(tt.raw))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if e, is := a.Event.(conversation.Pressed); is && ok && e.Query == "cb1" {
				got = fmt.Sprintf("%s %d %s", a.Key, e.Message, e.Do)
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestAnswer: a press is told once what came of it, in the language of whoever
// pressed; what Telegram refuses is not tried again.
func TestAnswer(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []answer
		calls   int
		failed  bool
	}{
		"at once":  {nil, 1, false},
		"too old":  {[]answer{fail(400, "Bad Request: query is too old and response timeout expired or query ID is invalid")}, 1, true},
		"at last":  {[]answer{fail(502, "Bad Gateway"), broken(io.EOF)}, 3, false},
		"not ever": {[]answer{broken(io.EOF), broken(io.EOF), broken(io.EOF)}, 3, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, open())
			r.tg.script("answerCallbackQuery", tt.answers...)
			err := r.Answer(t.Context(), "cb1", conversation.Notice{Code: conversation.Outdated, Language: "ru"})
			calls := r.tg.of("answerCallbackQuery")
			if len(calls) != tt.calls || (err != nil) != tt.failed || calls[0].params["text"] != russian.outdated || calls[0].params["callback_query_id"] != "cb1" {
				t.Errorf("%s: %v, %v", name, err, calls)
			}
		})
	}
}
