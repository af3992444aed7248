package bot

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

func TestPreview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		r.tg.always["sendMessageDraft"] = result(`true`)
		if err := r.Preview(t.Context(), key(7), 5, ""); err != nil {
			t.Fatal(err)
		}
		if err := r.Preview(t.Context(), key(7), 5, strings.Repeat("word ", 2000)+"**end"); err != nil {
			t.Fatal(err)
		}
		drafts := r.tg.of("sendMessageDraft")
		first, second := drafts[0].params, drafts[1].params
		if first["draft_id"] != "5" || first["can_stop"] != "true" || first["text"] != "" {
			t.Errorf("the first frame is %v", first)
		}
		if n := len(second["text"]); n > 4096+2 || !strings.HasSuffix(second["text"], "**end") {
			t.Errorf("the second has %d bytes and ends in %q", n, second["text"][n-9:])
		}
		if err := r.Preview(t.Context(), key(-100500), 5, "text"); err == nil {
			t.Error("a group has drafts")
		}
		r.tg.script("sendMessageDraft", flood(3))
		for range 3 { // the first is refused, the others are not even made
			if err := r.Preview(t.Context(), key(7), 5, "more"); err != nil {
				t.Fatal(err)
			}
		}
		if n := len(r.tg.of("sendMessageDraft")); n != 3 {
			t.Errorf("%d calls, want frames to be dropped during a flood wait", n)
		}
		time.Sleep(4 * time.Second)
		r.tg.script("sendMessageDraft", fail(400, "Bad Request: TEXTDRAFT_PEER_INVALID"))
		if err := r.Preview(t.Context(), key(7), 5, "more"); err == nil {
			t.Error("a failure was swallowed")
		}
		r.streaming = false
		if err := r.Preview(t.Context(), key(7), 5, "more"); err == nil || len(r.tg.of("sendMessageDraft")) != 4 {
			t.Error("a frame although streaming is off")
		}
	})
}

func TestStoppedDraft(t *testing.T) {
	tr := testTranslator(open())
	for raw, want := range map[string]conversation.Event{
		`{"update_id":1,"stopped_message_generation":{"chat":{"id":7,"type":"private"},"draft_id":5}}`:   conversation.Stop{Of: 5},
		`{"update_id":1,"stopped_message_generation":{"chat":{"id":7,"type":"private"},"draft_id":"5"}}`: conversation.Stop{Of: 5},
		`{"update_id":1,"stopped_message_generation":{"chat":{"id":7,"type":"private"},"draft_id":0}}`:   nil,
		`{"update_id":1,"stopped_message_generation":{"chat":{"id":7,"type":"private"}}}`:                nil,
		`{"update_id":1,"stopped_message_generation":"nonsense"}`:                                        nil,
	} {
		a, _, err := tr.update(json.RawMessage(raw))
		if err != nil || a.Event != want {
			t.Errorf("%s became %v, %v", raw, a.Event, err)
		}
	}
	strict := testTranslator(AccessConfig{Users: []int64{8}})
	if a, _, _ := strict.update(json.RawMessage(`{"update_id":1,"stopped_message_generation":{"chat":{"id":7,"type":"private"},"draft_id":5}}`)); a.Event != nil {
		t.Error("a stranger stopped something")
	}
}

func TestReplace(t *testing.T) {
	shown, gone := conversation.Part{Text: "new", Replaces: 55}, conversation.Part{Replaces: 55}
	for name, tt := range map[string]struct {
		part   conversation.Part
		method string
		answer answer
		want   conversation.SendErrorKind
	}{
		"edited":         {shown, "editMessageText", result(`{"message_id":55,"date":1,"chat":{"id":7,"type":"private"}}`), ""},
		"as it was":      {shown, "editMessageText", fail(400, "Bad Request: message is not modified: …"), ""},
		"is gone":        {shown, "editMessageText", fail(400, "Bad Request: message to edit not found"), conversation.Refused},
		"flood":          {shown, "editMessageText", flood(2), conversation.Later},
		"in doubt":       {shown, "editMessageText", html(502), conversation.InDoubt},
		"removed":        {gone, "deleteMessage", result(`true`), ""},
		"removed before": {gone, "deleteMessage", fail(400, "Bad Request: message to delete not found"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open())
			r.tg.script(tt.method, tt.answer)
			id, err := r.Send(t.Context(), key(7), tt.part, conversation.Source{})
			switch {
			case tt.want == "" && (err != nil || id != 55):
				t.Errorf("%d, %v", id, err)
			case tt.want != "" && (err == nil || sendError(t, err).Kind != tt.want):
				t.Errorf("%v, want %s", err, tt.want)
			}
			if n := len(r.tg.of("sendMessage")); n != 0 {
				t.Errorf("%d new messages", n)
			}
		})
	}
}
