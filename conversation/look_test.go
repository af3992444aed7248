package conversation

import (
	"testing"
	"time"
)

func TestNobodyIsTold(t *testing.T) {
	a := newTale(t)
	phase(a, "unknown")
	start, told := a.now, 0
	for a.state.Outbox[0].Parts[0].State == Unknown {
		if a.now.Sub(start) > 2*closeAlone {
			t.Fatal("it looks for ever (I5)")
		}
		a.due().do(Looked{Incarnation: "x", Reply: 1, Finding: Unclear})
		for len(a.sends) > 0 {
			told++
			a.delivered(&SendError{Kind: InDoubt})
		}
	}
	if took := a.now.Sub(start); took < closeAlone || told < int(closeAlone/tellAgain) {
		t.Errorf("closed after %v and %d notices", took, told)
	}
}

// TestLooking: found, ruled out, and neither, which is told and then closed.

func TestLooking(t *testing.T) {
	look := func(a *tale, f Finding) *tale {
		return a.do(Looked{Incarnation: "x", Reply: 1, Finding: f, Receipt: 77})
	}
	a := newTale(t)
	phase(a, "unknown")
	if look(a.due(), Found); a.sketch() != "sends B, delivering" || a.state.Outbox[0].Parts[0].Receipt != 77 {
		t.Errorf("found: %s", a.sketch())
	}
	a = newTale(t)
	phase(a, "unknown")
	if look(a.due(), Absent); a.sketch() != "sends A, delivering" {
		t.Errorf("ruled out: %s", a.sketch())
	}
	a = newTale(t)
	phase(a, "unknown")
	a.do(a.message(2, "two"))
	if look(a, Absent); a.sketch() != "waits one, waits two, timer" {
		t.Errorf("ruled out, with newer input: %s", a.sketch())
	}
	a = newTale(t)
	phase(a, "unknown")
	start, told := a.now, 0
	for a.state.Outbox[0].Parts[0].State == Unknown {
		if a.now.Sub(start) > time.Minute {
			t.Fatal("it looks for ever (I5)")
		}
		look(a.due(), Unclear)
		if len(a.sends) > 0 && a.sends[0].Notice != nil {
			told++
		}
		a.told()
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

func TestClockSetBack(t *testing.T) {
	a := newTale(t)
	phase(a, "waiting")
	a.now = a.now.Add(-time.Hour)
	a.do(Recovered{})
	if wait := a.state.Timer.Due.Sub(a.now); wait > a.rules.MaxWait {
		t.Errorf("after the clock was set back an hour, the person waits %v", wait)
	}
	a = newTale(t)
	phase(a, "flooded")
	a.now = a.now.Add(-time.Hour)
	a.do(Recovered{})
	if wait := a.rules.Next(&a.state, a.now).Sub(a.now); wait > 5*time.Second {
		t.Errorf("after the clock was set back an hour, a flood wait takes %v", wait)
	}
}

// TestRevision: an edit of the last answered message makes an answer that takes
// the place of the visible one, with parts added or removed.
