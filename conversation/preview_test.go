package conversation_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

func writing(words int) func(context.Context, int, []conversation.PromptMessage, func(string)) (conversation.Completion, error) {
	return func(ctx context.Context, _ int, p []conversation.PromptMessage, progress func(string)) (conversation.Completion, error) {
		text := "re: " + p[len(p)-1].Text
		for range words {
			if err := conversationtest.Sleep(ctx, 400*time.Millisecond); err != nil {
				return conversation.Completion{}, err
			}
			text += " word"
			progress(text)
		}
		return conversation.Completion{Text: text}, nil
	}
}

// TestPreviewIsFenced: frames come at most once a second, and none comes after
// the answer, even if one is on its way when the answer is there.

func TestPreviewIsFenced(t *testing.T) {
	for _, slow := range []time.Duration{0, 200 * time.Millisecond, time.Hour} {
		inWorld(t, func(w *world) {
			w.model.Write = writing(8)
			w.channel.Frame = func(ctx context.Context, _ conversation.Key, text string) error {
				if text == "" {
					return nil
				}
				return conversationtest.Sleep(ctx, slow)
			}
			w.say(alice, "#1")
			w.after(time.Minute)
			var answer time.Time
			for _, s := range w.channel.Shown() {
				if !s.User {
					answer = s.At
				}
			}
			frames := w.channel.Frames()
			for i, f := range frames {
				if f.At.After(answer) {
					t.Errorf("a frame came %v after the answer", f.At.Sub(answer))
				}
				if i > 0 && f.At.Sub(frames[i-1].At) < time.Second {
					t.Errorf("two frames within %v", f.At.Sub(frames[i-1].At))
				}
			}
			if len(frames) < 1 || slow == 0 && len(frames) < 3 || frames[0].Text != "" {
				t.Errorf("frames %+v", frames)
			}
			if ideal := w.channel.Shown()[0].At.Add(w.config.Debounce + 8*400*time.Millisecond); answer.Sub(ideal) > 400*time.Millisecond {
				t.Errorf("a frame held the answer for %v", answer.Sub(ideal))
			}
		})
	}
}

// TestStopKeepsWhatWasWritten: the call ends at once, what was written is the
// reply, and the history says so.

func TestStopKeepsWhatWasWritten(t *testing.T) {
	inWorld(t, func(w *world) {
		w.model.Write = writing(20)
		w.say(alice, "#1")
		w.after(1600 * time.Millisecond)
		w.command(alice, conversation.Stop{Of: 7}) // of a preview that is history
		w.command(alice, conversation.Stop{Of: 1})
		w.after(2 * time.Second)
		w.wantShown(alice, "re: #1 word word word\n\n(halted)")
		w.wantCalls("#1 cancelled")
		w.say(alice, "#2")
		w.after(20 * time.Second)
		calls := w.model.Calls()
		if p := calls[len(calls)-1].Prompt; len(p) != 3 || !strings.Contains(p[1].Text, "(halted)") {
			t.Errorf("the next prompt is %q", p)
		}
	})
}

// TestPoisonCostsOnlyItself: what cannot be written is dropped, and nobody
// else's messages with it.
