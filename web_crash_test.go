package main

import (
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"lastword/conversation"
)

// Killed at each commit from a message to its answer, before it and after it,
// and started again: nothing is lost, doubled or reordered (I1, I2, I7), whether
// or not the page sends again what was not acknowledged.
func TestWebKilledAtEachCommit(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for _, late := range []bool{false, true} {
			for _, again := range []bool{false, true} {
				inWebWorld(t, func(t *testing.T, w *webWorld) { killedAt(w, n, late, again) })
			}
		}
	}
}

func killedAt(w *webWorld, n int, late, again bool) {
	t := w.t
	p := w.open(0, false)
	commits := 0
	w.trap = func(conversation.Tx) (before, after bool) {
		commits++
		return commits == n && !late, commits == n && late
	}
	p.say("a", "#1")
	w.after(200 * time.Millisecond)
	if !w.dead.Load() {
		_ = p.socket.Write(t.Context(), websocket.MessageText, []byte(`{"v":1,"type":"message","client_msg_id":"b","text":"#2"}`))
	}
	w.after(5 * time.Second)
	acked := map[string]bool{}
	for _, f := range p.of("message_ack") {
		acked[f.ClientID] = true
	}
	w.trap = nil
	p.cut()
	w.kill()
	w.start()
	q := w.open(0, false)
	if again {
		q.say("a", "#1")
		q.say("b", "#2")
	}
	w.after(10 * time.Second)
	var users, bots, marks []string
	for _, m := range q.screen() {
		switch m.From {
		case "user":
			users = append(users, m.Text)
		case "bot":
			bots = append(bots, m.Text)
			marks = append(marks, strings.Fields(strings.TrimPrefix(m.Text, "re: "))...)
		default:
			t.Errorf("commit %d, late %t, again %t: a notice: %s", n, late, again, m.Text)
		}
	}
	if strings.Join(marks, " ") != strings.Join(users, " ") || again && len(users) != 2 ||
		acked["a"] && !strings.Contains(strings.Join(users, " "), "#1") || acked["b"] && !strings.Contains(strings.Join(users, " "), "#2") {
		t.Errorf("commit %d, late %t, again %t: people said %q (acknowledged: %v), answers %q", n, late, again, users, acked, bots)
	}
}

func TestWebKilledInMidAnswer(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(time.Second)
		w.kill()
		w.start()
		q := w.open(p.seq, false)
		w.after(5 * time.Second)
		q.wantScreen("bot: re: #1") // the rest the page has
		w.open(0, true).wantScreen("user: #1", "bot: re: #1")
		w.wantCalls("#1 cancelled", "#1")
	})
}
