package conversation_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

// A process takes the wall clock once, when it starts. So a clock that jumps
// shows at the next start: whatever is on disk is an hour ahead or behind.

// shift moves every time on disk. By an hour into the future it is as if the
// clock had been set back by one.
func (w *world) shift(by time.Duration) {
	w.t.Helper()
	err := w.store.Update(func(tx conversation.Tx) error {
		timer, errTimer := tx.Timer(alice)
		lease, errLease := tx.Lease(alice)
		outbox, errOutbox := tx.Outbox(alice)
		err := errors.Join(errTimer, errLease, errOutbox)
		if err != nil {
			return err
		}
		move := func(at *time.Time) {
			if !at.IsZero() {
				*at = at.Add(by)
			}
		}
		if timer.Set() {
			move(&timer.Due)
			move(&timer.First)
			move(&timer.Floor)
			err = errors.Join(err, tx.Arm(alice, timer))
		}
		if lease.Held() {
			move(&lease.Expiry)
			move(&lease.Started)
			err = errors.Join(err, tx.PutLease(alice, lease))
		}
		for _, r := range outbox {
			for i := range r.Parts {
				move(&r.Parts[i].NotBefore)
				move(&r.Parts[i].Since)
			}
			err = errors.Join(err, tx.PutReply(alice, r))
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

// jump ends the process, by a kill or in order, and starts it again under a
// clock that was set.
func (w *world) jump(by time.Duration, kill bool) {
	w.t.Helper()
	if kill {
		w.kill()
	} else {
		w.stop()
	}
	store, err := storage.Open(w.path)
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = store
	w.shift(by)
	w.close()
	w.start()
}

// first makes the first send come to something else than an id.
func first(f conversationtest.Fault) func(int, conversation.Key, string) conversationtest.Fault {
	return func(n int, _ conversation.Key, _ string) conversationtest.Fault {
		if n == 1 {
			return f
		}
		return conversationtest.Fault{}
	}
}

// jumps are the phases in which the process ends, and how long after that the
// answer must be there, with all that the configuration allows (I5).
var jumps = map[string]struct {
	send   conversationtest.Fault // of the first part
	fails  time.Duration          // the first model call fails, and asks for this wait
	at     time.Duration          // from the message to the end of the process
	bound  time.Duration
	doubts bool // a notice may say that the answer can be missing
}{
	"waiting":      {at: 100 * time.Millisecond, bound: 2 * time.Second},
	"generating":   {at: 800 * time.Millisecond, bound: 2 * time.Second},
	"claimed":      {at: 1350 * time.Millisecond, bound: 5 * time.Second, doubts: true, send: conversationtest.Fault{Before: 100 * time.Millisecond}},
	"visible":      {at: 1350 * time.Millisecond, bound: 2 * time.Second, doubts: true, send: conversationtest.Fault{After: 100 * time.Millisecond}},
	"flood wait":   {at: 2 * time.Second, bound: 5 * time.Second, send: conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.Later, After: 5 * time.Second, Err: errTest}}},
	"network down": {at: 1350 * time.Millisecond, bound: 2 * time.Second, send: conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.NotSent, Err: errTest}}},
	"unknown":      {at: 2 * time.Second, bound: 5 * time.Second, doubts: true, send: conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}}},
	"unknown, there": {at: 1500 * time.Millisecond, bound: 5 * time.Second, doubts: true,
		send: conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}, Landed: true}},
	"model's wait": {at: 800 * time.Millisecond, bound: 22 * time.Second, fails: 20 * time.Second},
}

// TestClockJumpInEveryPhase: an hour back or forward, at any phase, delays the
// answer by no more than the wait that it was in (I5), and there is one (I1, I2).
func TestClockJumpInEveryPhase(t *testing.T) {
	for phase, j := range jumps {
		for _, by := range []time.Duration{-time.Hour, 0, time.Hour} {
			for _, kill := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, times %v, kill %v", phase, by, kill), func(t *testing.T) {
					inWorld(t, func(w *world) {
						w.channel.Fault = first(j.send)
						w.model.Answer = func(ctx context.Context, n int, p []conversation.PromptMessage) (conversation.Completion, error) {
							if n == 1 && j.fails > 0 {
								return conversation.Completion{}, &conversation.ModelError{Kind: conversation.Temporary, RetryAfter: j.fails, Err: errTest}
							}
							if err := conversationtest.Sleep(ctx, time.Second); err != nil {
								return conversation.Completion{}, err
							}
							return conversation.Completion{Text: "re: " + strings.Join(conversationtest.Marks(p[len(p)-1].Text), " ")}, nil
						}
						w.say(alice, "#1")
						w.after(j.at)
						w.jump(by, kill)
						w.after(j.bound)
						w.wantAnswers(j.doubts, "re: #1")
						w.say(alice, "#2")
						w.after(w.config.MaxWait + 2*time.Second)
						w.wantAnswers(j.doubts, "re: #1", "re: #2")
					})
				})
			}
		}
	}
}

// wantAnswers is what is shown, notices of doubt aside.
func (w *world) wantAnswers(doubts bool, want ...string) {
	w.t.Helper()
	var got []string
	for _, text := range w.channel.Texts(alice) {
		if !doubts || !strings.HasPrefix(text, "(doubtful)") {
			got = append(got, text)
		}
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		w.t.Errorf("shown %q, want %q", w.channel.Texts(alice), want)
	}
}

// TestClockJumpWhileTyping: somebody who keeps typing is answered within
// max_wait of the first message, whatever the clock was when it came (I5).
func TestClockJumpWhileTyping(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, 0, time.Hour} {
		inWorld(t, func(w *world) {
			w.say(alice, "#1")
			w.after(100 * time.Millisecond)
			w.jump(by, true)
			began := time.Now()
			for len(w.model.Calls()) == 0 && time.Since(began) < time.Minute {
				w.say(alice, "#2")
				w.after(200 * time.Millisecond)
			}
			if took := time.Since(began); took > w.config.MaxWait+200*time.Millisecond {
				t.Errorf("times %v: the model was asked after %v, max_wait is %v", by, took, w.config.MaxWait)
			}
		})
	}
}

// TestClockJumpWhileTheModelIsLeftAlone: what arrives after the jump does not
// wait longer than the service has asked for (I5).
func TestClockJumpWhileTheModelIsLeftAlone(t *testing.T) {
	const wait = 20 * time.Second
	for _, by := range []time.Duration{-time.Hour, 0, time.Hour} {
		inWorld(t, func(w *world) {
			w.model.Answer = func(_ context.Context, n int, p []conversation.PromptMessage) (conversation.Completion, error) {
				if n == 1 {
					return conversation.Completion{}, &conversation.ModelError{Kind: conversation.Temporary, RetryAfter: wait, Err: errTest}
				}
				return conversation.Completion{Text: "re: " + strings.Join(conversationtest.Marks(p[len(p)-1].Text), " ")}, nil
			}
			w.say(alice, "#1")
			w.after(time.Second)
			w.jump(by, true)
			w.say(alice, "#2")
			w.after(wait + w.config.Debounce)
			w.wantShown(alice, "re: #1 #2")
		})
	}
}
