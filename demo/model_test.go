package demo

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

func ask(text string) []conversation.PromptMessage {
	return []conversation.PromptMessage{{Role: conversation.User, Text: text}}
}

func TestModelSaysWhatItWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Model{}
		var frames []string
		done, err := m.Generate(t.Context(), ask("apples\npears"), func(s string) { frames = append(frames, s) })
		if err != nil || !strings.Contains(done.Text, "2 lines") || !strings.Contains(done.Text, "1. apples\n2. pears") {
			t.Errorf("%q, %v", done.Text, err)
		}
		for i, f := range frames {
			if !strings.HasPrefix(done.Text, f) || i > 0 && len(f) < len(frames[i-1]) {
				t.Errorf("frame %d is %q", i, f)
			}
		}
		if len(frames) < 10 || frames[len(frames)-1] != done.Text || done.Tokens.Prompt == 0 {
			t.Errorf("%d frames, %+v", len(frames), done.Tokens)
		}
	})
}

func TestModelDoesWhatItIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &Model{}
		var why *conversation.ModelError
		if _, err := m.Generate(t.Context(), ask("Fail!"), nil); !errors.As(err, &why) || why.Kind != conversation.Rejected {
			t.Errorf("fail: %v", err)
		}
		if _, err := m.Generate(t.Context(), ask("fail\nand now?"), nil); err != nil {
			t.Errorf("after a failure: %v", err)
		}
		if _, err := m.Generate(t.Context(), ask("hello\nstall"), nil); !errors.As(err, &why) || why.Kind != conversation.Temporary {
			t.Errorf("stall: %v", err)
		}
		if _, err := m.Generate(t.Context(), ask("hello\nstall"), nil); err != nil {
			t.Errorf("after a stall: %v", err)
		}
		start := time.Now()
		if _, err := m.Generate(t.Context(), ask("slow"), nil); err != nil || time.Since(start) < 20*time.Second {
			t.Errorf("slow took %s, %v", time.Since(start), err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		start = time.Now()
		if _, err := m.Generate(ctx, ask("slow"), nil); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 2*time.Second {
			t.Errorf("cancelled: %v after %s", err, time.Since(start))
		}
	})
}
