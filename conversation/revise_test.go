package conversation

import (
	"errors"
	"testing"
	"time"
)

func TestRevision(t *testing.T) {
	a := newTale(t)
	a.rules.ReviseWindow = 15 * time.Minute
	phase(a, "idle")
	turn := a.turns[1]
	turn.Receipts = []int64{60, 61}
	a.state.Buttons = 61
	a.turns[1] = turn
	a.do(a.edit(1, "ONE"))
	if a.sketch() != "timer" {
		t.Fatalf("after the edit: %s", a.sketch())
	}
	a.due()
	if a.work.Revises != 1 || a.sketch() != "asks , generating" {
		t.Fatalf("when due: %s", a.sketch())
	}
	a.do(a.answered("C"))
	if a.sketch() != "sends C, delivering" || a.sends[0].Part.Replaces != 60 {
		t.Fatalf("answered: %s", a.sketch())
	}
	a.delivered(&SendError{Kind: InDoubt}) // an edit is tried again
	a.due().delivered(nil)
	if last := a.sends[0]; last.Part.Replaces != 61 || last.Part.Text != "" {
		t.Fatalf("then: %+v", last)
	}
	a.delivered(nil)
	if len(a.result.Amend) != 1 || a.result.Amend[0].Reply != "C" || len(a.result.Amend[0].Receipts) != 1 || a.sketch() != "" {
		t.Errorf("in the end: %s, %+v", a.sketch(), a.result.Amend)
	}
}

func TestNewerInputWinsOverARevision(t *testing.T) {
	a := newTale(t)
	a.rules.ReviseWindow = 15 * time.Minute
	phase(a, "idle")
	turn := a.turns[1]
	turn.Receipts = []int64{60, 61}
	a.turns[1] = turn
	a.do(a.edit(1, "ONE")).due().do(a.message(2, "two"))
	if a.sketch() != "cancel, waits two, generating, to end" {
		t.Errorf("a message during a revision: %s", a.sketch())
	}
	a.do(Generated{Work: a.work, Err: errors.New("cancelled")}).due()
	if a.sketch() != "asks two, waits two, generating" || a.work.Revises != 0 {
		t.Errorf("then: %s", a.sketch())
	}
	a = newTale(t)
	phase(a, "idle")
	turn.At = a.now
	a.turns[1] = turn
	a.rules.ReviseWindow = time.Minute
	if a.wait(2 * time.Minute).do(a.edit(1, "ONE")); a.sketch() != "" {
		t.Errorf("an edit after the window: %s", a.sketch())
	}
}
