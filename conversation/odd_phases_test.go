package conversation

import (
	"testing"
	"time"
)

// Sequences in which two things happen at once, each found by somebody who
// tried to break the rules.

// answers lists the parts of answers that the last step has claimed.
func (a *tale) answers() (texts []string) {
	for _, f := range a.result.Effects {
		if s, ok := f.(Send); ok && s.Notice == nil {
			texts = append(texts, s.Part.Text)
		}
	}
	return texts
}

func TestMessageAfterAStopIsNotResting(t *testing.T) {
	a := newTale(t)
	phase(a, "committed")
	a.do(Stop{}, a.message(2, "two"))
	a.sends = a.sends[:1]
	a.delivered(&SendError{Kind: NotSent})
	if a.sketch() != "waits one, waits two, timer" {
		t.Error(a.sketch())
	}
}

func TestStopOfAReplyThatTurnsOutUnseen(t *testing.T) {
	a := newTale(t)
	phase(a, "generating")
	a.do(a.answered("A"), Stop{})
	a.sends = a.sends[:1]
	a.delivered(&SendError{Kind: Later, After: 5 * time.Second})
	a.wait(6 * time.Second).do(Due{})
	if len(a.answers()) > 0 || a.state.Rest != AfterStop {
		t.Error(a.sketch())
	}
}

func TestFinishedReplyIsWithdrawnForAnEdit(t *testing.T) {
	for _, event := range []string{"edit", "delete"} {
		a := newTale(t)
		a.rules.OnNewMessage = Finish
		phase(a, "flooded")
		if event == "edit" {
			a.do(a.edit(1, "ONE"))
		} else {
			a.do(Deleted{Source: Source{Chat: 1, ID: 1}, Turn: a.edit(1, "").Turn})
		}
		if a.state.answer() != nil {
			t.Errorf("after the %s: %s", event, a.sketch())
		}
	}
}

func TestProtectedReplyIsRevisedForAnEdit(t *testing.T) {
	a := newTale(t)
	a.rules.ReviseWindow = time.Minute
	phase(a, "protected")
	a.do(a.edit(1, "ONE"), a.answered("A"))
	if a.delivered(nil); a.state.Revising == nil || !a.state.Timer.Set() {
		t.Error("the edit is never answered: " + a.sketch())
	}
}

func TestSearchSurvivesAClockSetBack(t *testing.T) {
	a := newTale(t)
	phase(a, "unknown")
	a.now = a.now.Add(-365 * 24 * time.Hour)
	a.rules.Owner = "next"
	a.do(Recovered{})
	for range 5 * 60 {
		r := a.wait(time.Second).state.answer()
		if r == nil || r.Parts[0].State == Closed {
			return
		}
		a.do(Due{}, Looked{Incarnation: "x", Reply: r.ID, Finding: Unclear}).told()
	}
	t.Error("after five minutes: " + a.sketch())
}

func TestRefusedReplyLeavesNewerInputItsTurn(t *testing.T) {
	a := newTale(t)
	phase(a, "protected")
	a.do(a.message(2, "two"), a.answered("A"))
	if a.delivered(&SendError{Kind: Refused}); a.state.Rest != "" || !a.state.Timer.Set() {
		t.Error(a.sketch())
	}
}

// TestLooksThatCannotBeMadeDoNotCount: an outage is not a search.
func TestLooksThatCannotBeMadeDoNotCount(t *testing.T) {
	a := newTale(t)
	phase(a, "unknown")
	for range 30 {
		a.due().do(Looked{Incarnation: "x", Reply: 1, Finding: NotLooked})
	}
	if p := a.state.Outbox[0].Parts[0]; p.State != Unknown || p.Announced != 0 {
		t.Errorf("%+v", p)
	}
	for range 200 {
		if a.state.answer() == nil || a.state.Outbox[0].Parts[0].State != Unknown {
			return
		}
		a.told().due().do(Looked{Incarnation: "x", Reply: 1, Finding: NotLooked})
	}
	t.Error("it waits for ever (I5)")
}

// TestPartThatWaitsForTheLease is I5: what came back after the process had slept
// through its lease has to be claimed again, by whoever takes the lease.
func TestPartThatWaitsForTheLease(t *testing.T) {
	for name, back := range map[string]func(a *tale){
		"send moved":     func(a *tale) { a.delivered(&SendError{Kind: Moved}) },
		"look ruled out": func(a *tale) { a.do(Looked{Incarnation: "x", Reply: 1, Finding: Absent}) },
	} {
		a := newTale(t)
		phase(a, "committed")
		if name == "look ruled out" {
			a.delivered(&SendError{Kind: InDoubt}).due()
		}
		a.wait(2 * a.rules.LeaseTTL)
		back(a)
		if a.rules.Next(&a.state, a.now).IsZero() {
			t.Errorf("%s: nobody will look: %s", name, a.sketch())
		} else if a.due(); len(a.answers()) != 1 {
			t.Errorf("%s: when due: %s", name, a.sketch())
		}
	}
}

// TestNoticeOfAProcessThatIsGone is I5: it is in the way of the next notice, and
// of the search for a part, no longer than a send can take.
func TestNoticeOfAProcessThatIsGone(t *testing.T) {
	a := newTale(t)
	a.do(Reset{}) // its notice is claimed, and nothing comes back
	a.rules.Owner = "next"
	phase(a, "generating")
	a.do(Generated{Work: a.work, Err: &ModelError{Kind: Denied}})
	if got := len(a.sends); got != 1 {
		t.Fatalf("%d notices at once", got)
	}
	asked := a.now
	a.due()
	if got := a.now.Sub(asked); got > sayTimeout || len(a.sends) != 2 || a.sends[1].Notice.Code != Unanswerable {
		t.Errorf("after %v: %s", got, a.sketch())
	}
}
