package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"lastword/conversation"
	"lastword/storage"
	"lastword/web"
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
	w.setTrap(func(conversation.Tx) (before, after bool) {
		commits++
		return commits == n && !late, commits == n && late
	})
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
	w.setTrap(nil)
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

// Killed when an answer was claimed for sending, newer input was stored, and
// nothing was shown yet: the claim is ruled out without a word, and both are
// answered together (I2, I3).
func TestWebKilledWithAStaleClaim(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		k := conversation.Key{Channel: web.Channel, Bot: 1, Chat: 1}
		w.setTrap(func(tx conversation.Tx) (before, after bool) {
			outbox, _ := tx.Outbox(k)
			return false, len(outbox) > 0
		})
		w.after(5 * time.Second)
		w.setTrap(nil)
		p.cut()
		w.kill()
		db, err := storage.Open(w.path)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx conversation.Tx) error {
			c, _, err := tx.Conversation(k)
			if err != nil {
				return err
			}
			c.Version++
			m := conversation.Message{
				Version: c.Version, Changed: c.Version, Source: conversation.Source{Chat: 1, ID: 2}, Content: conversation.Content{Text: "#2"},
			}
			return errors.Join(tx.PutConversation(k, c), tx.PutMessage(k, m))
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		w.start()
		q := w.open(0, false)
		w.after(10 * time.Second)
		q.wantScreen("user: #1", "bot: re: #1 #2")
	})
}

// A full disk, met at each commit of a message in turn: it is acknowledged when
// it is stored, and answered once.
func TestWebFullDisk(t *testing.T) {
	for n := range int64(10) {
		inWebWorld(t, func(t *testing.T, w *webWorld) {
			p := w.open(0, false)
			w.full.Store(n + 1)
			for range 5 {
				p.say("a", "#1")
				if len(p.of("message_ack")) > 0 {
					break
				}
				w.after(2 * time.Second)
			}
			w.after(10 * time.Second)
			if n := len(p.of("message_ack")); n != 1 {
				t.Errorf("%d acknowledgements", n)
			}
			p.wantScreen("user: #1", "bot: re: #1")
			w.wantCalls("#1")
		})
	}
}

// What the channel does with a send whose context has ended, and with a notice
// that says what is never true here.
func TestWebSends(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(5 * time.Second)
		k := conversation.Key{Channel: web.Channel, Bot: 1, Chat: 1}
		part := conversation.Part{Text: "late", State: conversation.Claimed, Above: 2}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		var why *conversation.SendError
		if _, err := w.chat.Send(ended, k, part, conversation.Source{}); !errors.As(err, &why) || why.Kind != conversation.NotSent {
			t.Errorf("an ended context: %v", err)
		}
		doubt := w.chat.Word(conversation.Notice{Code: conversation.Doubtful, Press: &conversation.Press{Do: conversation.ShowAnswer}})
		if id, err := w.chat.Send(t.Context(), k, doubt, conversation.Source{}); err != nil || id != 3 {
			t.Errorf("a doubt: %d, %v", id, err)
		}
		first, err1 := w.chat.Send(t.Context(), k, part, conversation.Source{})
		again, err2 := w.chat.Send(t.Context(), k, part, conversation.Source{})
		if err1 != nil || err2 != nil || first != again || first != 4 {
			t.Errorf("a part that is sent twice: %d, %d, %v, %v", first, again, err1, err2)
		}
		replaced := conversation.Part{Text: "later", State: conversation.Claimed, Replaces: first}
		for range 2 {
			if id, err := w.chat.Send(t.Context(), k, replaced, conversation.Source{}); err != nil || id != first {
				t.Errorf("replacing: %d, %v", id, err)
			}
		}
		if _, err := w.chat.Send(t.Context(), k, conversation.Part{Text: "x", Replaces: 99}, conversation.Source{}); !errors.As(err, &why) || why.Kind != conversation.Refused {
			t.Errorf("replacing nothing: %v", err)
		}
		w.after(0)
		p.wantScreen("user: #1", "bot: re: #1", "bot: later")
		for range 2 {
			if _, err := w.chat.Send(t.Context(), k, conversation.Part{Replaces: first}, conversation.Source{}); err != nil {
				t.Errorf("removing: %v", err)
			}
		}
		w.after(0)
		p.wantScreen("user: #1", "bot: re: #1")
	})
}

// A damaged record costs its own session and neither the start nor another one.
func TestWebDamagedRecords(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		p := w.open(0, false)
		p.say("a", "#1")
		w.after(5 * time.Second)
		p.cut()
		w.stop()
		db, err := storage.Open(w.path)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx conversation.Tx) error {
			var names []string
			var errs []error
			for r, err := range tx.Records("web/log/", "") {
				names, errs = append(names, r.Name), append(errs, err)
			}
			for _, n := range names {
				pending := "web/pending/" + strings.TrimPrefix(n, "web/log/")
				errs = append(errs, tx.PutRecord(n, []byte(`{"text": "secret text`)), tx.PutRecord(pending, []byte("{}")))
			}
			return errors.Join(append(errs, tx.PutRecord("web/pending/nonsense", nil))...)
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		w.start()
		q := w.open(0, false)
		w.after(time.Second)
		if q.code() != websocket.StatusTryAgainLater {
			t.Errorf("a session that cannot be read is closed with %d", q.code())
		}
		w.cookie = "" // somebody else
		r := w.open(0, false)
		r.say("a", "#2")
		w.after(5 * time.Second)
		r.wantScreen("user: #2", "bot: re: #2")
	})
}
