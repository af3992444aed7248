package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

func sendError(t *testing.T, err error) *conversation.SendError {
	t.Helper()
	var e *conversation.SendError
	if !errors.As(err, &e) {
		t.Fatalf("%T is no SendError: %v", err, err)
	}
	return e
}

func TestSend(t *testing.T) {
	r := newRig(t, open())
	p := conversation.Part{Text: "bold", Entities: json.RawMessage(`[{"type":"bold","offset":0,"length":4}]`)}
	k := key(-100500)
	k.Thread = 6
	id, err := r.Send(t.Context(), k, p, conversation.Source{Chat: -100500, ID: 33})
	if err != nil || id != 900 {
		t.Fatalf("%d, %v", id, err)
	}
	got := r.tg.of("sendMessage")[0].params
	for name, want := range map[string]string{
		"chat_id": "-100500", "text": "bold", "message_thread_id": "6", "entities": `[{"type":"bold","offset":0,"length":4}]`,
		"reply_parameters": `{"message_id":33,"allow_sending_without_reply":true}`, "link_preview_options": `{"is_disabled":true}`,
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if _, err := r.Send(t.Context(), key(7), conversation.Part{Text: "plain"}, conversation.Source{Chat: 8, ID: 1}); err != nil {
		t.Fatal(err)
	}
	got = r.tg.of("sendMessage")[1].params
	for _, absent := range []string{"message_thread_id", "reply_parameters", "entities", "parse_mode"} {
		if v, there := got[absent]; there {
			t.Errorf("%s is %q", absent, v)
		}
	}
}

func TestOutcomes(t *testing.T) {
	for name, tt := range map[string]struct {
		answer answer
		want   conversation.SendErrorKind
	}{
		"flood":            {flood(3), conversation.Later},
		"blocked":          {fail(403, "Forbidden: bot was blocked by the user"), conversation.Away},
		"deactivated":      {fail(403, "Forbidden: user is deactivated"), conversation.Away},
		"kicked":           {fail(403, "Forbidden: bot was kicked from the supergroup chat"), conversation.Away},
		"no rights":        {fail(400, "Bad Request: not enough rights to send text messages to the chat"), conversation.Away},
		"no chat":          {fail(400, "Bad Request: chat not found"), conversation.Refused},
		"empty":            {fail(400, "Bad Request: message text is empty"), conversation.Refused},
		"too long":         {fail(400, "Bad Request: message is too long"), conversation.Refused},
		"not found":        {fail(404, "Not Found"), conversation.Refused},
		"moved":            {respond(400, `{"ok":false,"error_code":400,"description":"Bad Request: group chat was upgraded to a supergroup chat","parameters":{"migrate_to_chat_id":-1001900000001}}`), conversation.Moved},
		"unauthorized":     {fail(401, "Unauthorized"), conversation.NotSent},
		"refused":          {broken(errNeverLeft), conversation.NotSent},
		"500":              {fail(500, "Internal Server Error"), conversation.InDoubt},
		"html":             {html(502), conversation.InDoubt},
		"empty answer":     {respond(200, ""), conversation.InDoubt},
		"cut":              {cut, conversation.InDoubt},
		"half json":        {respond(200, `{"ok":true,"result":{"message_id":5,"text":"private wo`), conversation.InDoubt},
		"no id":            {result(`{"date":1}`), conversation.InDoubt},
		"broken":           {broken(io.EOF), conversation.InDoubt},
		"silence":          {hang, conversation.InDoubt},
		"error with token": {broken(fmt.Errorf("proxy: cannot reach /bot%s/x", testToken)), conversation.InDoubt},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, open())
				r.tg.script("sendMessage", tt.answer)
				start := time.Now()
				_, err := r.Send(t.Context(), key(7), conversation.Part{Text: "private words"}, conversation.Source{})
				e := sendError(t, err)
				if e.Kind != tt.want {
					t.Errorf("got %v", e)
				}
				if d := time.Since(start); d > sendPatience {
					t.Errorf("took %v", d)
				}
				if e.Kind == conversation.Later && e.After != 3*time.Second || e.Kind == conversation.Moved && e.To != -1001900000001 {
					t.Errorf("got %+v", e)
				}
				if e.Kind != conversation.NotSent && len(r.tg.of("sendMessage")) != 1 {
					t.Error("not sent once")
				}
				for err := error(e); err != nil; err = errors.Unwrap(err) {
					if s := fmt.Sprintf("%+v", err); strings.Contains(s, testSecret) || strings.Contains(s, "private wo") {
						t.Errorf("the error tells too much: %s", s)
					}
				}
			})
		})
	}
}

func TestSendThatIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := r.Send(ctx, key(7), conversation.Part{Text: "x"}, conversation.Source{})
		if e := sendError(t, err); e.Kind != conversation.NotSent {
			t.Errorf("before: %v", e)
		}
		r.tg.script("sendMessage", hang)
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = r.Send(ctx, key(7), conversation.Part{Text: "x"}, conversation.Source{})
		if e := sendError(t, err); e.Kind != conversation.InDoubt {
			t.Errorf("after it left: %v", e)
		}
	})
}

func TestFallbacks(t *testing.T) {
	p := conversation.Part{Text: "bold", Entities: json.RawMessage(`[{"type":"bold","offset":0,"length":4}]`)}
	k := key(-100500)
	k.Thread = 6
	for description, gone := range map[string]string{
		"Bad Request: message to be replied not found": "reply_parameters",
		"Bad Request: REPLY_MESSAGE_ID_INVALID":        "reply_parameters",
		"Bad Request: message thread not found":        "message_thread_id",
		"Bad Request: ENTITIES_TOO_LONG":               "entities",
		"Bad Request: can't parse entities: x":         "entities",
	} {
		r := newRig(t, open())
		r.tg.script("sendMessage", fail(400, description))
		if _, err := r.Send(t.Context(), k, p, conversation.Source{Chat: -100500, ID: 33}); err != nil {
			t.Errorf("%s: %v", description, err)
		}
		calls := r.tg.of("sendMessage")
		if len(calls) != 2 {
			t.Fatalf("%s: %d calls", description, len(calls))
		}
		for _, name := range []string{"reply_parameters", "message_thread_id", "entities"} {
			if _, there := calls[1].params[name]; there == (name == gone) {
				t.Errorf("%s: %s there: %v", description, name, there)
			}
		}

		r = newRig(t, open())
		r.tg.always["sendMessage"] = fail(400, description)
		_, err := r.Send(t.Context(), k, p, conversation.Source{Chat: -100500, ID: 33})
		if e := sendError(t, err); e.Kind != conversation.Refused || len(r.tg.of("sendMessage")) != 2 {
			t.Errorf("%s again: %v after %d calls", description, e, len(r.tg.of("sendMessage")))
		}
	}
	r := newRig(t, open())
	r.tg.script("sendMessage", fail(400, "Bad Request: message to be replied not found"), fail(400, "Bad Request: message thread not found"), fail(400, "Bad Request: ENTITIES_TOO_LONG"))
	if _, err := r.Send(t.Context(), k, p, conversation.Source{Chat: -100500, ID: 33}); err != nil || len(r.tg.of("sendMessage")) != 4 {
		t.Errorf("all of it: %v", err)
	}
}

func TestFloodWaitsAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		send := func(chat int64) *conversation.SendError {
			_, err := r.Send(t.Context(), key(chat), conversation.Part{Text: "x"}, conversation.Source{})
			if err == nil {
				return nil
			}
			return sendError(t, err)
		}
		r.tg.script("sendMessage", flood(5))
		send(7)
		time.Sleep(2 * time.Second)
		if e := send(7); e == nil || e.Kind != conversation.Later || e.After != 3*time.Second {
			t.Errorf("during the wait: %v", e)
		}
		if e := send(8); e != nil {
			t.Errorf("another chat: %v", e)
		}
		if err := r.Typing(t.Context(), key(7)); err != nil || len(r.tg.of("sendChatAction")) != 0 {
			t.Errorf("typing during the wait: %v", err)
		}
		time.Sleep(3 * time.Second)
		if e := send(7); e != nil {
			t.Errorf("after it: %v", e)
		}
	})
}

func TestTyping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		k := key(-100500)
		k.Thread = 6
		if err := r.Typing(t.Context(), k); err != nil {
			t.Fatal(err)
		}
		if p := r.tg.of("sendChatAction")[0].params; p["action"] != "typing" || p["message_thread_id"] != "6" {
			t.Errorf("params %v", p)
		}
		r.tg.script("sendChatAction", hang, flood(10))
		start := time.Now()
		if err := r.Typing(t.Context(), k); err == nil || time.Since(start) != typingPatience {
			t.Errorf("a call that hangs: %v after %v", err, time.Since(start))
		}
		if err := r.Typing(t.Context(), k); err == nil {
			t.Error("a flood wait is no error")
		}
		if err := r.Typing(t.Context(), k); err != nil || len(r.tg.of("sendChatAction")) != 3 {
			t.Errorf("during the wait: %v", err)
		}
		if _, err := r.Send(t.Context(), k, conversation.Part{Text: "x"}, conversation.Source{}); err != nil {
			t.Errorf("a send during it: %v", err)
		}
	})
}

func TestSequence(t *testing.T) {
	r := newRig(t, open())
	for chat, want := range map[int64]int64{7: 0, -4_000_001: 0, -1_001_000_000_001: -1_001_000_000_001} {
		if got := r.Sequence(chat); got != want {
			t.Errorf("sequence of %d: %d", chat, got)
		}
	}
}

func TestCompose(t *testing.T) {
	r := newRig(t, open())
	parts := r.Compose("a **bold** word")
	if len(parts) != 1 || parts[0].Text != "a bold word" || !strings.Contains(string(parts[0].Entities), "bold") {
		t.Errorf("%+v", parts)
	}
	if parts := r.Compose(strings.Repeat("word ", 2000)); len(parts) < 3 {
		t.Errorf("%d parts", len(parts))
	}
	for _, text := range []string{"", "\n", "---", "**", "[](x)", "<!-- -->"} {
		for _, p := range r.Compose(text) {
			if strings.TrimSpace(p.Text) == "" {
				t.Errorf("a blank part of %q", text)
			}
		}
		if len(r.Compose(text)) == 0 && strings.TrimSpace(text) != "" {
			t.Errorf("no part of %q", text)
		}
	}
}
