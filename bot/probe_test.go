package bot

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

func TestProbe(t *testing.T) {
	same := fail(400, "Bad Request: message is not modified: specified new message content and reply markup are exactly the same")
	absent := fail(400, "Bad Request: message to edit not found")
	others := fail(400, "Bad Request: message can't be edited")
	edited := result(`{"message_id":1,"date":1,"chat":{"id":7,"type":"private"},"text":"x"}`)
	for name, tt := range map[string]struct {
		answers []answer
		found   int64
		failed  bool
		deleted string
	}{
		"found":              {[]answer{absent, others, same}, 13, false, ""},
		"absent":             {[]answer{absent, others, absent, fail(400, "Bad Request: MESSAGE_ID_INVALID")}, 0, false, ""},
		"overwritten":        {[]answer{absent, edited, absent, absent}, 12, false, ""},
		"overwritten, found": {[]answer{edited, absent, same}, 13, false, "11"},
		"overwritten twice":  {[]answer{edited, absent, edited, absent}, 11, false, "13"},
		"flood":              {[]answer{absent, flood(3)}, 0, true, ""},
		"500":                {[]answer{fail(500, "Internal Server Error")}, 0, true, ""},
		"broken":             {[]answer{broken(io.EOF)}, 0, true, ""},
		"blocked":            {[]answer{fail(403, "Forbidden: bot was blocked by the user")}, 0, true, ""},
		"then broken":        {[]answer{edited, broken(io.EOF)}, 11, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open())
			r.tg.script("editMessageText", tt.answers...)
			p := conversation.Part{Text: "x", Entities: json.RawMessage(`[{"type":"bold","offset":0,"length":1}]`)}
			met, err := r.Probe(t.Context(), key(7), p, []int64{11, 12, 13, 14}, false)
			var id int64
			if len(met.Can) == 1 {
				id = met.Can[0]
			}
			if id != tt.found || (err != nil) != tt.failed {
				t.Errorf("%v, %v", met, err)
			}
			var deleted []string
			for _, c := range r.tg.of("deleteMessage") {
				deleted = append(deleted, c.params["message_id"])
			}
			if got := strings.Join(deleted, " "); got != tt.deleted {
				t.Errorf("deleted %q", got)
			}
			first := r.tg.of("editMessageText")[0].params
			if _, markup := first["reply_markup"]; markup || first["text"] != "x" || !strings.Contains(first["entities"], "bold") {
				t.Errorf("params %v", first)
			}
		})
	}
}

func TestProbeAndSendExcludeEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		slow := func(ctx context.Context, c call) (*http.Response, error) {
			if ctx != nil {
				time.Sleep(3 * time.Second)
			}
			return r.tg.always["sendMessage"](ctx, c)
		}
		r.tg.script("sendMessage", slow)
		r.tg.always["editMessageText"] = fail(400, "Bad Request: message to edit not found")
		start := time.Now()
		var group sync.WaitGroup
		group.Go(func() {
			if _, err := r.Send(t.Context(), key(7), conversation.Part{Text: "x"}, conversation.Source{}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		if _, err := r.Probe(t.Context(), key(7), conversation.Part{Text: "y"}, []int64{11}, false); err != nil {
			t.Error(err)
		}
		if d := r.tg.of("editMessageReplyMarkup")[0].at.Sub(start); d < 3*time.Second {
			t.Errorf("looked after %v, in the middle of a send", d)
		}
		group.Wait()
	})
}

// TestProbeLeavesKnownMessagesAlone: what was sent since the candidates were
// listed is another message of the bot; an edit would put the answer in its place.
func TestProbeLeavesKnownMessagesAlone(t *testing.T) {
	r := newRig(t, open())
	if _, err := r.Send(t.Context(), key(7), conversation.Part{Text: "a notice"}, conversation.Source{}); err != nil {
		t.Fatal(err)
	}
	r.tg.always["editMessageText"] = fail(400, "Bad Request: message to edit not found")
	if met, err := r.Probe(t.Context(), key(7), conversation.Part{Text: "an answer"}, []int64{899, 900, 901}, false); len(met.Can) > 0 || err != nil {
		t.Errorf("met %v, %v", met, err)
	}
	for _, c := range r.tg.of("editMessageText") {
		if c.params["message_id"] == "900" {
			t.Error("it edited the notice")
		}
	}
}

// TestStaleProbeShowsNothing: a look for an answer that is no longer wanted must
// not put it on the screen.
func TestStaleProbeShowsNothing(t *testing.T) {
	absent, ours := fail(400, "Bad Request: message to edit not found"), fail(400, "Bad Request: message is not modified")
	buttons := result(`{"message_id":1,"date":1,"chat":{"id":7,"type":"private"},"text":"x"}`)
	for name, tt := range map[string]struct {
		answers []answer
		met     conversation.Probed
	}{
		"not there":            {[]answer{absent, absent, absent}, conversation.Probed{}},
		"it can be ours":       {[]answer{absent, ours, absent}, conversation.Probed{Can: []int64{12}}},
		"two of ours":          {[]answer{ours, ours, absent}, conversation.Probed{Can: []int64{11, 12}}},
		"another, with button": {[]answer{buttons, ours, absent}, conversation.Probed{Can: []int64{12}, Others: []int64{11}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open())
			r.tg.script("editMessageReplyMarkup", tt.answers...)
			met, err := r.Probe(t.Context(), key(7), conversation.Part{Text: "an answer"}, []int64{11, 12, 13}, true)
			if err != nil || !reflect.DeepEqual(met, tt.met) {
				t.Errorf("met %v, %v; want %v", met, err, tt.met)
			}
			if n := len(r.tg.of("editMessageText")); n != 0 {
				t.Errorf("%d edits", n)
			}
		})
	}
}

// TestProbeByButtons: no other message has the buttons of a part, so they tell
// it from all others, and no text is touched.
func TestProbeByButtons(t *testing.T) {
	absent, same := fail(400, "Bad Request: message to edit not found"), fail(400, "Bad Request: message is not modified")
	changed := result(`{"message_id":1,"date":1,"chat":{"id":7,"type":"private"},"text":"x"}`)
	for name, tt := range map[string]struct {
		answers []answer
		met     conversation.Probed
		failed  bool
		markups int
	}{
		"found":              {[]answer{absent, same}, conversation.Probed{Can: []int64{12}}, false, 2},
		"absent":             {[]answer{absent, absent, absent}, conversation.Probed{}, false, 3},
		"another":            {[]answer{changed, changed, absent, same}, conversation.Probed{Others: []int64{11}, Can: []int64{13}}, false, 4},
		"another, then down": {[]answer{changed, changed, broken(io.EOF)}, conversation.Probed{Others: []int64{11}}, true, 3},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open())
			r.tg.script("editMessageReplyMarkup", tt.answers...)
			press := conversation.Press{Do: conversation.Regenerate, Incarnation: "abc", Turn: 1, Generation: 1}
			p := conversation.Part{Text: "an answer", Buttons: []conversation.Button{{Press: press, Label: "↻"}}}
			met, err := r.Probe(t.Context(), key(7), p, []int64{11, 12, 13}, false)
			if (err != nil) != tt.failed || !reflect.DeepEqual(met, tt.met) {
				t.Errorf("met %v, %v; want %v", met, err, tt.met)
			}
			calls := r.tg.of("editMessageReplyMarkup")
			if len(calls) != tt.markups || !strings.Contains(calls[0].params["reply_markup"], "↻") || len(r.tg.of("editMessageText")) != 0 {
				t.Errorf("calls %v", calls)
			}
			for i, c := range calls {
				if i > 0 && calls[i-1].params["message_id"] == c.params["message_id"] && c.params["reply_markup"] != "" {
					t.Errorf("the other message keeps the buttons: %v", c)
				}
			}
		})
	}
}
