package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/web"
)

func TestWebBurstGivesOneAnswer(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1 secret text")
		p.say("b", "#2")
		p.say("c", "#3")
		p.wantAcks("a", "b", "c")
		w.after(5 * time.Second)
		p.wantScreen("user: #1 secret text", "user: #2", "user: #3", "bot: re: #1 #2 #3")
		w.wantCalls("#1 #2 #3") // I2, I4
	})
}

func TestWebMessageInMidAnswer(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(time.Second)
		p.say("b", "#2")
		if b := p.of("message_buffered"); len(b) != 1 || b[0].ClientID != "b" || b[0].Position != 1 || !b[0].Together {
			t.Errorf("the page was told %+v", b)
		}
		w.after(5 * time.Second)
		p.wantScreen("user: #1", "user: #2", "bot: re: #1 #2") // I3
		w.wantCalls("#1 cancelled", "#1 #2")
	})
}

func TestWebMessageInMidAnswerIsBuffered(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		w.stop()
		w.turn.OnNewMessage = conversation.Finish
		w.start()
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(time.Second)
		p.say("b", "#2")
		p.say("c", "#3")
		b := p.of("message_buffered")
		if len(b) != 2 || b[0].Position != 1 || b[1].Position != 2 || b[0].Together || b[1].ClientID != "c" {
			t.Errorf("the page was told %+v", b)
		}
		w.after(7 * time.Second)
		p.wantScreen("user: #1", "user: #2", "user: #3", "bot: re: #1", "bot: re: #2 #3")
		if m := p.screen(); m[3].Quotes != m[0].ID {
			t.Errorf("the first answer quotes %d", m[3].Quotes)
		}
	})
}

func TestWebRefreshInMidAnswer(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(time.Second)
		go func() { // the old connection closes while the new one is made
			time.Sleep(200 * time.Millisecond)
			_ = p.socket.Close(websocket.StatusGoingAway, "")
		}()
		q := w.open(0, false)
		w.after(5 * time.Second)
		if q.code() != -1 {
			t.Fatalf("a refresh was closed with %d", q.code())
		}
		q.wantScreen("user: #1", "bot: re: #1")
		w.wantCalls("#1")
	})
}

func TestWebSecondWindow(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		first := w.open(0, false)
		first.say("a", "#1")
		second := w.open(0, false)
		w.after(3 * time.Second)
		if second.code() != 4009 || first.code() != -1 {
			t.Errorf("second window: %d, first: %d", second.code(), first.code())
		}
		third := w.open(0, true) // Continue here
		w.after(time.Second)
		if first.code() != 4009 || third.code() != -1 {
			t.Errorf("after taking over, first: %d, third: %d", first.code(), third.code())
		}
		third.wantScreen("user: #1", "bot: re: #1")
	})
}

// A page that is gone without a word is found out within a second.

func TestWebZombieIsReplaced(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		socket, _, raw, err := w.dialPage(webOrigin)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		if err := socket.Write(t.Context(), websocket.MessageText, []byte(`{"v":1,"type":"hello"}`)); err != nil {
			t.Fatal(err)
		}
		w.after(0) // it reads nothing from here on, so it answers no ping
		p := w.open(0, false)
		w.after(3 * time.Second)
		if p.code() != -1 || len(p.of("welcome")) != 1 {
			t.Errorf("the newcomer was closed with %d", p.code())
		}
		_ = socket.CloseNow()
	})
}

func TestWebSharedWindows(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		w.stop()
		w.config.Connections = web.Shared
		w.start()
		p, q := w.open(0, false), w.open(0, false)
		p.say("a", "#1")
		q.say("b", "#2")
		w.after(5 * time.Second)
		for _, each := range []*page{p, q} {
			each.wantScreen("user: #1", "user: #2", "bot: re: #1 #2")
		}
		w.wantCalls("#1 #2")
	})
}

// The connection is cut after the message has left and before it is

// acknowledged: the page sends it again, and it is one turn (I2).

func TestWebCutBeforeTheAck(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.send(map[string]any{"type": "message", "client_msg_id": "a", "text": "#1"})
		p.cut()
		w.after(time.Second)
		q := w.open(0, false)
		q.say("a", "#1")
		if acks := q.of("message_ack"); len(acks) != 1 {
			t.Errorf("acknowledged %v", acks)
		}
		w.after(5 * time.Second)
		q.wantScreen("user: #1", "bot: re: #1")
		w.wantCalls("#1")
	})
}

func TestWebDuplicates(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		p.say("a", "#1")
		p.say("a", "#2") // the same id with another text
		w.after(5 * time.Second)
		p.wantAcks("a", "a duplicate", "a conflict")
		w.after(14 * time.Minute)
		p.say("a", "#1")
		w.stop()
		w.start()
		q := w.open(0, false)
		q.say("a", "#1")
		w.after(5 * time.Second)
		q.wantAcks("a duplicate")
		q.wantScreen("user: #1", "bot: re: #1")
		w.wantCalls("#1")
	})
}

func TestWebOrderAfterReload(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		var want []string
		for i, text := range lines("#%d", 70) {
			p.say(text[1:], text)
			want = append(want, "user: "+text)
			w.after(3 * time.Second)
			want = append(want, "bot: re: "+text)
			_ = i
		}
		p.wantScreen(want...)
		w.open(0, true).wantScreen(want...)
		q := w.open(100, true)
		if got := q.screen(); len(got) == 0 || got[0].Seq <= 100 {
			t.Errorf("after 100: %+v", got)
		}
	})
}

func TestWebEditAndRegenerate(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(4 * time.Second)
		m := p.screen()
		if len(m) != 2 || len(m[1].Buttons) != 1 || m[1].Buttons[0].Do != "regenerate" {
			t.Fatalf("shown %+v", m)
		}
		p.send(map[string]any{"type": "edit", "client_msg_id": "e", "id": m[0].ID, "text": "#2"})
		w.after(4 * time.Second)
		p.wantScreen("user: #2", "bot: re: #2")
		p.send(map[string]any{"type": "press", "id": m[1].ID, "do": "regenerate"})
		w.after(4 * time.Second)
		if toasts := p.of("toast"); len(toasts) != 1 || toasts[0].Code != "redoing" {
			t.Errorf("told %+v", toasts)
		}
		p.send(map[string]any{"type": "press", "id": m[0].ID, "do": "regenerate"}) // there is no such button
		p.send(map[string]any{"type": "edit", "client_msg_id": "f", "id": m[1].ID, "text": "not mine"})
		w.after(time.Second)
		p.wantAcks("a", "e", "f unknown")
		w.wantCalls("#1", "#2", "#2")
		if strings.Contains(p.of("history")[1].raw, "incarnation") {
			t.Error("the page gets what buttons are made of")
		}
	})
}

func TestWebStopAndReset(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(time.Second)
		p.send(map[string]any{"type": "stop", "client_msg_id": "s"})
		w.after(time.Second)
		p.send(map[string]any{"type": "reset", "client_msg_id": "r"})
		p.send(map[string]any{"type": "status", "client_msg_id": "t"})
		w.after(time.Second)
		p.wantAcks("a", "s", "r", "t")
		s := p.screen()
		if len(s) != 4 || !strings.HasPrefix(s[1].Text, "Stopped.") || !strings.HasPrefix(s[2].Text, "Done,") || !strings.HasPrefix(s[3].Text, "I am not") {
			t.Errorf("shown %+v", s)
		}
	})
}

// A page that shows another session, or a store that has lost this one, is told

// to forget what it has.

func TestWebFreshStart(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(5 * time.Second)
		for _, hello := range []map[string]any{{"after": 99}, {"after": 1, "session": "another"}} {
			socket, _, raw, err := w.dialPage(webOrigin)
			if err != nil {
				t.Fatal(err)
			}
			q := &page{w: w, socket: socket, raw: raw, done: make(chan struct{})}
			w.pages = append(w.pages, q)
			hello["type"], hello["take_over"] = "hello", true
			q.send(hello)
			go q.read()
			w.after(time.Second)
			if h := q.of("history"); len(h) != 2 || !h[0].Fresh {
				t.Errorf("%v: told %+v", hello, h)
			}
			q.wantScreen("user: #1", "bot: re: #1")
		}
		q := w.open(1, true)
		if h := q.of("history"); len(h) != 1 || h[0].Fresh || len(h[0].Messages) != 1 {
			t.Errorf("after 1: %+v", h)
		}
	})
}

// An answer that came while nobody was connected is there when somebody is, and

// so is the draft of one that is being written.

func TestWebAnswerToNobody(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		w.model.Write = func(ctx context.Context, n int, _ []conversation.PromptMessage, progress func(string)) (conversation.Completion, error) {
			progress("half")
			err := conversationtest.Sleep(ctx, 5*time.Second)
			return conversation.Completion{Text: "half and half"}, err
		}
		p := w.open(0, false)
		p.say("a", "#1")
		p.cut()
		w.after(3 * time.Second)
		q := w.open(p.seq, false)
		if d := q.of("preview"); len(d) != 1 || d[0].Text != "half" {
			t.Errorf("the draft is %+v", d)
		}
		q.cut()
		w.after(10 * time.Second)
		r := w.open(0, false)
		r.wantScreen("user: #1", "bot: half and half")
		if d := r.of("preview"); len(d) != 0 {
			t.Errorf("a draft of an answer that is there: %+v", d)
		}
	})
}

func TestWebHeartbeats(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.send(map[string]any{"type": "ping", "n": 7})
		w.after(10 * time.Minute)
		if len(p.of("pong")) != 1 || p.code() != -1 {
			t.Errorf("pongs %d, closed with %d", len(p.of("pong")), p.code())
		}
	})
}
