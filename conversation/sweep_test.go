package conversation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

// TestEditAtEveryMoment sweeps an edit over all phases of a turn: in the end
// exactly one reply is visible, and it answers the edited text.
func TestEditAtEveryMoment(t *testing.T) {
	const step = 20 * time.Millisecond
	for at := time.Duration(0); at < 2200*time.Millisecond; at += step {
		inWorld(t, func(w *world) {
			w.stop()
			w.config.ReviseWindow = 15 * time.Minute
			w.start()
			w.channel.Fault = func(n int, _ conversation.Key, _ string) conversationtest.Fault {
				return conversationtest.Fault{Before: 100 * time.Millisecond, After: 100 * time.Millisecond}
			}
			id := w.say(alice, "#1")
			w.after(at)
			w.deliver(edit(alice, id, "#1e"))
			w.after(30 * time.Second)
			var replies []string
			for _, text := range w.channel.Texts(alice) {
				if strings.HasPrefix(text, "re:") {
					replies = append(replies, text)
				}
			}
			if len(replies) != 1 || replies[0] != "re: #1e" {
				t.Errorf("edited after %v: %q", at, w.channel.Texts(alice))
			}
			w.say(alice, "#2")
			w.after(10 * time.Second)
			calls := w.model.Calls()
			if p := calls[len(calls)-1].Prompt; len(p) != 3 || p[0].Text != "#1e" || p[1].Text != "re: #1e" {
				t.Errorf("edited after %v, the next prompt is %q", at, p)
			}
		})
	}
}

// press presses the newest button of a chat that has a label; false if there is
// none.
func (w *world) press(k conversation.Key, label string) bool {
	w.t.Helper()
	for _, s := range slices.Backward(w.channel.Shown()) {
		for _, b := range s.Buttons {
			if s.Key == k && b.Label == label {
				w.presses++
				w.deliver(conversation.Arrival{Key: k, Event: conversation.Pressed{Press: b.Press, Query: fmt.Sprint(w.presses), Message: s.ID}})
				return true
			}
		}
	}
	return false
}

// takes is a model that numbers its answers.
func takes(w *world) {
	w.model.Answer = func(ctx context.Context, n int, p []conversation.PromptMessage) (conversation.Completion, error) {
		if err := conversationtest.Sleep(ctx, 500*time.Millisecond); err != nil {
			return conversation.Completion{}, err
		}
		return conversation.Completion{Text: fmt.Sprintf("re: %s take%d", p[len(p)-1].Text, n)}, nil
	}
}

// TestPressAtEveryMoment sweeps the button for another answer over all phases
// of a turn, with each policy, pressed once and twice: in the end each question
// has one visible reply (I2), each press was answered once, no two calls were in
// flight at a time (I4), and the history is what can be seen (I7).
func TestPressAtEveryMoment(t *testing.T) {
	const step = 40 * time.Millisecond
	for _, policy := range []conversation.Regenerating{conversation.LastRequested, conversation.FirstAccepted, conversation.Choose} {
		for at := time.Duration(0); at < 2400*time.Millisecond; at += step {
			for _, again := range []time.Duration{0, 130 * time.Millisecond, 700 * time.Millisecond} {
				inWorld(t, func(w *world) {
					pressAfter(w, policy, at, again)
					if t.Failed() {
						t.Logf("%s, pressed after %v and again after %v", policy, at, again)
					}
				})
			}
			if t.Failed() {
				return
			}
		}
	}
}

func pressAfter(w *world, policy conversation.Regenerating, at, again time.Duration) {
	w.stop()
	w.config.Regenerate = policy
	w.start()
	takes(w)
	w.channel.Fault = func(int, conversation.Key, string) conversationtest.Fault {
		return conversationtest.Fault{Before: 100 * time.Millisecond, After: 100 * time.Millisecond}
	}
	w.say(alice, "#1")
	w.after(3 * time.Second)
	w.say(alice, "#2")
	w.after(at)
	pressed := 0
	for _, wait := range []time.Duration{0, again} {
		if wait > 0 || pressed == 0 {
			w.after(wait)
			if w.press(alice, "↻") {
				pressed++
			}
		}
	}
	w.after(30 * time.Second)
	got := w.channel.Texts(alice)
	if len(got) != 2 || !strings.HasPrefix(got[0], "re: #1 take") || !strings.HasPrefix(got[1], "re: #2 take") {
		w.t.Errorf("shown %q", got)
	}
	if told := w.channel.Told(); len(told) != pressed {
		w.t.Errorf("%d presses, told %v", pressed, told)
	}
	calls := w.model.Calls()
	for i := 1; i < len(calls); i++ {
		if calls[i].Start.Before(calls[i-1].End) {
			w.t.Errorf("I4: call %d began before call %d had ended", i+1, i)
		}
	}
	buttons := 0
	for _, s := range w.channel.Shown() {
		if len(s.Buttons) > 0 {
			buttons++
		}
	}
	if buttons != 1 {
		w.t.Errorf("%d messages have buttons", buttons)
	}
	w.say(alice, "#3")
	w.after(5 * time.Second)
	calls = w.model.Calls()
	p := calls[len(calls)-1].Prompt
	if len(p) != 5 || p[1].Text != got[0] || p[3].Text != got[1] {
		w.t.Errorf("I7: shown %q, the next prompt is %q", got, p)
	}
}

// TestStopButton: in a chat without previews, a long call can be stopped by a
// button, which goes when the call is over.
func TestStopButton(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.Write = writing(100)
		w.channel.Frame = func(context.Context, conversation.Key, string) error { return errTest }
		w.say(alice, "#1")
		w.after(9 * time.Second)
		w.wantShown(alice)
		w.after(2 * time.Second)
		w.wantShown(alice, "(working)")
		if !w.press(alice, "stop") {
			t.Fatal("no button")
		}
		w.after(time.Second)
		if got := w.channel.Texts(alice); len(got) != 1 || !strings.HasPrefix(got[0], "re: #1 word") || !strings.HasSuffix(got[0], "(halted)") {
			t.Errorf("shown %q", got)
		}
		w.wantCalls("#1 cancelled")
	})
}

// TestLostAnswers: whichever send it is whose answer is lost, visible or not,
// each question is answered where it can be seen, once (I1, I2), or a button
// shows the answer.
func TestLostAnswers(t *testing.T) {
	for n := 1; n <= 9; n++ {
		for _, landed := range []bool{true, false} {
			for _, count := range []int{1, 2, 4} {
				inWorld(t, func(w *world) {
					w.channel.PartSize = 9
					w.channel.Fault = func(i int, _ conversation.Key, _ string) conversationtest.Fault {
						if i < n || i >= n+count {
							return conversationtest.Fault{}
						}
						return conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}, Landed: landed}
					}
					for _, text := range []string{"#1", "#2 #2b", "#3"} {
						w.say(alice, text)
						w.after(3 * time.Second)
					}
					w.after(time.Minute)
					for w.press(alice, "show") {
						w.after(30 * time.Second)
					}
					var seen []string
					for _, text := range w.channel.Texts(alice) {
						if !strings.HasPrefix(text, "(") {
							seen = append(seen, text)
						}
					}
					got := strings.Join(seen, "")
					for _, mark := range []string{"#1", "#2", "#2b", "#3"} {
						if words := strings.Count(strings.ReplaceAll(got, "re:", " ")+" ", mark+" "); words != 1 {
							t.Errorf("send %d and %d more lost, landed %t: %q", n, count-1, landed, w.channel.Texts(alice))
							break
						}
					}
				})
			}
		}
	}
}
