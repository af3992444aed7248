package conversation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

func TestBurstIsOneTurn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(alice, "#1")
		w.after(100 * time.Millisecond)
		w.say(alice, "#2")
		w.after(100 * time.Millisecond)
		w.say(alice, "#3")
		w.after(3 * time.Second)
		w.wantShown(alice, "re: #1 #2 #3")
		w.wantCalls("#1 #2 #3")
	})
}

func TestThirdMessageCancels(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(alice, "#1")
		w.after(800 * time.Millisecond)
		w.say(alice, "#2")
		w.after(3 * time.Second)
		w.wantShown(alice, "re: #1 #2")
		w.wantCalls("#1 cancelled", "#1 #2")
	})
}

func TestProtectedAfterMaxRestarts(t *testing.T) {
	inWorld(t, func(w *world) {
		w.stop()
		w.config.MaxRestarts = 2
		w.start()
		ids := []int64{w.say(alice, "#1")}
		for _, text := range []string{"#2", "#3", "#4"} {
			w.after(800 * time.Millisecond)
			ids = append(ids, w.say(alice, text))
		}
		w.after(5 * time.Second)
		w.wantShown(alice, "re: #1 #2 #3", "re: #4")
		w.wantCalls("#1 cancelled", "#1 #2 cancelled", "#1 #2 #3", "#4")
		for _, s := range w.channel.Shown() {
			if s.Text == "re: #1 #2 #3" && s.Target.ID != ids[2] {
				t.Errorf("the protected reply quotes %v, want message %d", s.Target, ids[2])
			}
		}
	})
}

func TestEditWhileGenerating(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.say(alice, "#1")
		w.after(800 * time.Millisecond)
		w.deliver(edit(alice, id, "#1"))
		w.deliver(edit(alice, id, "#1e"))
		w.after(3 * time.Second)
		w.wantShown(alice, "re: #1e")
		w.wantCalls("#1 cancelled", "#1e")
	})
}

func TestRedeliveredIsDropped(t *testing.T) {
	inWorld(t, func(w *world) {
		id := w.say(alice, "#1")
		w.after(3 * time.Second)
		w.deliver(message(alice, id, "#1"))
		w.after(3 * time.Second)
		w.wantShown(alice, "re: #1")
		w.wantCalls("#1")
	})
}

func TestKilledWhileGenerating(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(alice, "#1")
		w.after(800 * time.Millisecond)
		w.kill()
		w.start()
		w.after(3 * time.Second)
		w.wantShown(alice, "re: #1")
		w.wantCalls("#1 cancelled", "#1")
	})
}

func TestKilledWhileSending(t *testing.T) {
	for _, landed := range []bool{true, false} {
		inWorld(t, func(w *world) {
			w.channel.Fault = func(n int, _ conversation.Key, _ string) conversationtest.Fault {
				if n == 1 {
					return conversationtest.Fault{Before: 100 * time.Millisecond, Err: &conversation.SendError{Kind: conversation.InDoubt, Err: context.Canceled}, Landed: landed}
				}
				return conversationtest.Fault{}
			}
			w.say(alice, "#1")
			w.after(1300*time.Millisecond + 10*time.Millisecond)
			if landed {
				w.after(95 * time.Millisecond)
			}
			w.kill()
			w.start()
			w.after(5 * time.Second)
			w.say(bob, "#b")
			w.after(20 * time.Second)
			if landed {
				w.wantShown(alice, "re: #1")
			} else {
				got := w.channel.Texts(alice)
				if len(got) != 2 || got[1] != "re: #1" {
					t.Errorf("shown %q, want a notice and then the answer", got)
				}
			}
			w.say(alice, "#2")
			w.after(3 * time.Second)
			if got := w.channel.Texts(alice); got[len(got)-1] != "re: #2" {
				t.Errorf("then shown %q", got)
			}
		})
	}
}

func TestResetWhileGenerating(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(alice, "#1")
		w.after(800 * time.Millisecond)
		w.command(alice, conversation.Reset{})
		w.after(400 * time.Millisecond)
		w.say(alice, "#2")
		w.after(3 * time.Second)
		w.wantShown(alice, "(reset_done)", "re: #2")
		if p := w.model.Calls()[1].Prompt; len(p) != 1 {
			t.Errorf("the prompt after a reset has %d messages", len(p))
		}
	})
}

func TestStopWhileGenerating(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(alice, "#1")
		w.after(800 * time.Millisecond)
		w.command(alice, conversation.Stop{})
		w.after(5 * time.Second)
		w.wantShown(alice, "(stop_done)")
		w.say(alice, "#2")
		w.after(3 * time.Second)
		w.wantShown(alice, "(stop_done)", "re: #1 #2")
	})
}

func TestFailureIsToldOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		ok := false
		w.model.Answer = func(ctx context.Context, n int, p []conversation.PromptMessage) (conversation.Completion, error) {
			if ok {
				return conversation.Completion{Text: "re: ok"}, nil
			}
			return conversation.Completion{}, &conversation.ModelError{Kind: conversation.Temporary, Err: errTest}
		}
		w.say(alice, "#1")
		w.after(time.Minute)
		if got := w.channel.Texts(alice); len(got) != 1 || len(w.model.Calls()) != 3 {
			t.Errorf("shown %q after %d calls, want one notice after 3", got, len(w.model.Calls()))
		}
		ok = true
		w.say(alice, "#2")
		w.after(3 * time.Second)
		calls := w.model.Calls()
		if last := calls[len(calls)-1]; len(last.Turn) != 2 {
			t.Errorf("the next turn has %v", last.Turn)
		}
	})
}

// TestQueuedTurnTakesItsSnapshotLate: what comes while a turn waits for a place
// is part of it, and costs no restart.

func TestQueuedTurnTakesItsSnapshotLate(t *testing.T) {
	inWorld(t, func(w *world) {
		w.stop()
		w.limits.Concurrent = 1
		w.start()
		w.say(alice, "#a")
		w.after(50 * time.Millisecond)
		w.say(bob, "#1")
		for range 2 {
			w.after(400 * time.Millisecond)
			w.say(bob, "#2")
		}
		w.after(5 * time.Second)
		w.wantCalls("#a", "#1 #2")
		w.wantShown(alice, "re: #a")
		w.wantShown(bob, "re: #1 #2")
	})
}

// TestSlowSendIsGivenUp: a reply that takes long to be sent is given up for
// newer input. What becomes visible all the same counts as sent.

func TestSlowSendIsGivenUp(t *testing.T) {
	slow := func(n int, _ conversation.Key, _ string) conversationtest.Fault {
		if n == 1 {
			return conversationtest.Fault{Before: 300 * time.Millisecond}
		}
		return conversationtest.Fault{}
	}
	inWorld(t, func(w *world) {
		w.channel.Fault = slow
		w.say(alice, "#1")
		w.after(1400 * time.Millisecond) // 100 ms into the send
		w.say(alice, "#2")
		w.after(10 * time.Second)
		if got := w.channel.Texts(alice); got[len(got)-1] != "re: #1 #2" || len(w.model.Calls()) != 2 {
			t.Errorf("shown %q after %d calls", got, len(w.model.Calls()))
		}
	})
	inWorld(t, func(w *world) {
		w.channel.Fault = func(n int, k conversation.Key, text string) conversationtest.Fault {
			f := slow(n, k, text)
			f.Before, f.After = 0, f.Before // the answer of the call is slow, not the call
			return f
		}
		w.say(alice, "#1")
		w.after(1400 * time.Millisecond)
		w.say(alice, "#2")
		w.after(10 * time.Second)
		w.wantShown(alice, "re: #1", "re: #2")
	})
}

func TestTurnCostsThreeCommits(t *testing.T) {
	inWorld(t, func(w *world) {
		w.say(alice, "#1")
		before := w.commits.Load()
		w.after(5 * time.Second)
		w.wantShown(alice, "re: #1")
		if n := w.commits.Load() - before; n != 3 {
			t.Errorf("the turn cost %d commits beside that of its message, want 3", n)
		}
	})
}

func TestNothingIsDoneThatIsNotWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		full := conversation.ErrFull
		w.fail.Store(&full)
		b := conversation.Batch{Identity: alice.Identity(), Offset: 2, Arrivals: []conversation.Arrival{message(alice, 1, "#1")}}
		if err := w.engine.Receive(w.t.Context(), b); err == nil {
			t.Fatal("a batch that is not stored was taken")
		}
		w.fail.Store(nil)
		if err := w.engine.Receive(w.t.Context(), b); err != nil {
			t.Fatal(err)
		}
		w.after(100 * time.Millisecond)
		w.fail.Store(&full)
		w.after(10 * time.Second)
		w.wantCalls()
		w.fail.Store(nil)
		w.after(5 * time.Second)
		w.wantCalls("#1")
		w.wantShown(alice, "re: #1")
	})
}

// TestPanicIsContained: a turn whose model call panics ends in a notice, and
// nobody else notices.

func TestPanicIsContained(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.Answer = func(ctx context.Context, n int, p []conversation.PromptMessage) (conversation.Completion, error) {
			if p[len(p)-1].Text == "#boom" {
				panic("on purpose")
			}
			return conversation.Completion{Text: "re: fine"}, nil
		}
		w.say(alice, "#boom")
		w.say(bob, "#b")
		w.after(5 * time.Second)
		w.wantShown(bob, "re: fine")
		if got := w.channel.Texts(alice); len(got) != 1 || !strings.HasPrefix(got[0], "(failed)") {
			t.Errorf("shown %q, want one notice", got)
		}
	})
}

// TestGroupBecomesSupergroup: a migration in the middle of a turn moves the
// conversation, with its timer, lease, history and reply.

func TestGroupBecomesSupergroup(t *testing.T) {
	moved := conversation.Key{Channel: "test", Bot: 1, Chat: 901}
	migrate := conversation.Arrival{Key: alice, Event: conversation.Migrated{To: moved}}
	inWorld(t, func(w *world) {
		w.say(alice, "#1")
		w.after(3 * time.Second)
		w.say(alice, "#2")
		w.after(800 * time.Millisecond) // generating
		w.deliver(migrate, migrate)
		w.after(3 * time.Second)
		w.say(moved, "#3")
		w.after(3 * time.Second)
		w.wantShown(alice, "re: #1")
		w.wantShown(moved, "re: #2", "re: #3")
		calls := w.model.Calls()
		if got := len(calls[len(calls)-1].Prompt); got != 5 {
			t.Errorf("the prompt after the move has %d messages, want the whole history", got)
		}
	})
	inWorld(t, func(w *world) { // learnt from the send
		w.channel.Fault = func(n int, to conversation.Key, _ string) conversationtest.Fault {
			if to == alice {
				return conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.Moved, To: 901, Err: errTest}}
			}
			return conversationtest.Fault{}
		}
		w.say(alice, "#1")
		w.after(5 * time.Second)
		w.wantShown(moved, "re: #1")
	})
}

func TestBlockedAndBack(t *testing.T) {
	inWorld(t, func(w *world) {
		away := true
		w.channel.Fault = func(int, conversation.Key, string) conversationtest.Fault {
			if away {
				return conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.Away, Err: errTest}}
			}
			return conversationtest.Fault{}
		}
		w.say(alice, "#1")
		w.after(time.Minute)
		w.wantCalls("#1")
		away = false
		w.deliver(conversation.Arrival{Key: alice, Event: conversation.Returned{}})
		w.say(alice, "#2")
		w.after(5 * time.Second)
		w.wantShown(alice, "re: #1 #2")
	})
}

func TestContextTooBigTrimsTheHistory(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.Answer = func(ctx context.Context, n int, p []conversation.PromptMessage) (conversation.Completion, error) {
			if len(p) > 5 {
				return conversation.Completion{}, &conversation.ModelError{Kind: conversation.ContextTooBig, Err: errTest}
			}
			return conversation.Completion{Text: "re: ok"}, nil
		}
		for range 8 {
			w.say(alice, "#1 and some words to fill the context")
			w.after(5 * time.Second)
		}
		for _, text := range w.channel.Texts(alice) {
			if text != "re: ok" {
				t.Errorf("shown %q", text)
			}
		}
	})
}

// writing is a model that writes one word every 400 ms.

func TestPoisonCostsOnlyItself(t *testing.T) {
	inWorld(t, func(w *world) {
		poison := message(alice, w.channel.Next(alice, "#x"), "#x")
		in := poison.Event.(conversation.Incoming)
		in.Message.Sent = time.Unix(1<<40, 0) // JSON has no such year
		poison.Event = in
		w.deliver(poison, message(bob, w.channel.Next(bob, "#b"), "#b"))
		w.after(5 * time.Second)
		w.wantShown(bob, "re: #b")
	})
}

// TestInvisibleAnswer: an answer that shows nothing is no answer, and holds
// nobody.

func TestInvisibleAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		w.channel.Blank = func(text string) bool { return text == "re: #1" }
		w.say(alice, "#1")
		w.after(time.Minute)
		if got := w.channel.Texts(alice); len(got) != 1 || !strings.HasPrefix(got[0], "(failed)") {
			t.Errorf("shown %q, want one notice", got)
		}
		w.say(alice, "#2")
		w.after(5 * time.Second)
		if got := w.channel.Texts(alice); got[len(got)-1] != "re: #1 #2" {
			t.Errorf("then shown %q", got)
		}
	})
}
