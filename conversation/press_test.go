package conversation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// press makes a press of a button under the last part of a turn's reply, as it
// is in the history by now.
func (a *tale) press(do Action, turn Version) Pressed {
	h, ok := a.turns[turn]
	e := Pressed{Query: "q", Press: Press{Do: do, Incarnation: "x", Turn: turn, Generation: h.Generation}}
	if !ok {
		return e
	}
	e.Turn = &h
	if n := len(h.Receipts); n > 0 {
		e.Message = h.Receipts[n-1]
	}
	return e
}

// amend applies what the last step says of the history.
func (a *tale) amend() *tale {
	for _, am := range a.result.Amend {
		if turn, ok := a.turns[am.ID]; ok {
			turn.amend(am)
			a.turns[am.ID] = turn
		}
	}
	return a
}

// said is what whoever pressed was told by the last step.
func (a *tale) said() string {
	var codes []string
	for _, f := range a.result.Effects {
		if f, ok := f.(Answer); ok {
			codes = append(codes, string(f.Notice.Code))
		}
	}
	return strings.Join(codes, ", ")
}

// answeredOnce is a tale whose first message has its reply, of one part.
func answeredOnce(t *testing.T, policy Regenerating) *tale {
	a := newTale(t)
	a.rules.Regenerate, a.rules.ReviseWindow = policy, 15*time.Minute
	a.do(a.message(1, "one")).due()
	a.do(a.answered("A")).delivered(nil)
	return a.amend()
}

// TestRegenerate: each policy, for a press at rest and one while the first is
// worked on. In each case one reply is visible in the end, at the place of the
// first (I2), and one call is in flight at a time (I4).
func TestRegenerate(t *testing.T) {
	for policy, second := range map[Regenerating]NoticeCode{LastRequested: Redoing, FirstAccepted: Busy, Choose: Busy, NoRegenerate: Outdated} {
		t.Run(string(policy), func(t *testing.T) {
			a := answeredOnce(t, policy)
			place := a.turns[1].Receipts[0]
			a.do(a.press(Regenerate, 1))
			if policy == NoRegenerate {
				if a.said() != string(Outdated) || a.state.Buttons != 0 {
					t.Errorf("told %q, buttons at %d", a.said(), a.state.Buttons)
				}
				return
			}
			if a.said() != string(Redoing) || a.sketch() != "answer, timer" {
				t.Fatalf("pressed: %s, %s", a.said(), a.sketch())
			}
			a.due()
			if !a.work.Again || a.work.Generation != 2 {
				t.Fatalf("due: %+v", a.work)
			}
			a.do(a.press(Regenerate, 1))
			if a.said() != string(second) {
				t.Errorf("pressed again: %s", a.said())
			}
			if policy == LastRequested {
				if !strings.HasPrefix(a.sketch(), "cancel") {
					t.Errorf("the first call goes on: %s", a.sketch())
				}
				a.do(Generated{Work: a.work}).due()
			}
			a.do(a.answered("B"))
			if len(a.sends) != 1 || a.sends[0].Part.Replaces != place || a.sends[0].Part.Text != "B" {
				t.Fatalf("sends %+v", a.sends)
			}
			a.delivered(nil).amend()
			turn := a.turns[1]
			if turn.Reply != "B" || turn.Generation != a.work.Generation || a.sketch() != "" {
				t.Errorf("in the end: %+v, %s", turn, a.sketch())
			}
			if pages := len(turn.Variants); policy == Choose && pages != 2 || policy != Choose && pages != 0 {
				t.Errorf("%d variants", pages)
			}
		})
	}
}

// TestOutdatedPresses: a press that is not current changes nothing but its own
// buttons, whatever the phase.
func TestOutdatedPresses(t *testing.T) {
	for name, change := range map[string]func(a *tale, e *Pressed){
		"another incarnation": func(_ *tale, e *Pressed) { e.Incarnation = "y" },
		"an older reply":      func(_ *tale, e *Pressed) { e.Generation = 99 },
		"no such turn":        func(_ *tale, e *Pressed) { e.Turn = nil },
		"another message":     func(_ *tale, e *Pressed) { e.Message = 7 },
		"nothing asked for":   func(_ *tale, e *Pressed) { e.Press = Press{} },
		"newer input":         func(a *tale, _ *Pressed) { a.do(a.message(2, "two")) },
		"after a reset":       func(a *tale, e *Pressed) { a.do(Reset{}); e.Turn = nil },
		"while away":          func(a *tale, _ *Pressed) { a.do(Left{}) },
		"the next turn":       func(a *tale, _ *Pressed) { a.do(a.message(2, "two")).due().do(a.answered("B")) },
	} {
		for _, do := range []Action{Regenerate, TurnPage, ShowAnswer, StopAnswer} {
			a := answeredOnce(t, Choose)
			e := a.press(do, 1)
			e.Page, e.Parts = 1, []Part{{Text: "A"}}
			change(a, &e)
			before := a.state.clone()
			a.do(e)
			if a.said() != string(Outdated) {
				t.Errorf("%s, %s: told %q", name, do, a.said())
			}
			if fmt.Sprint(before) != fmt.Sprint(a.state) {
				t.Errorf("%s, %s: changed\n%+v\ninto\n%+v", name, do, before, a.state)
			}
			if stripped := slices.Contains(a.result.Effects, Effect(Unbutton{a.state.Buttons})); stripped {
				t.Errorf("%s, %s: the current buttons are gone", name, do)
			}
		}
	}
}

// TestPages: all answers are kept, the chosen one is what the history holds
// (I7), and the buttons lead to the others.
func TestPages(t *testing.T) {
	a := answeredOnce(t, Choose)
	for _, text := range []string{"B", "C"} {
		a.do(a.press(Regenerate, 1)).due().do(a.answered(text)).delivered(nil).amend()
	}
	labels := func(p Part) string {
		var out []string
		for _, b := range p.Buttons {
			out = append(out, b.Label)
		}
		return strings.Join(out, " ")
	}
	for _, tt := range []struct {
		page  int
		text  string
		shows string
	}{{2, "B", "◀ 2/3 ▶ ↻"}, {1, "A", "1/3 ▶ ↻"}, {3, "C", "◀ 3/3 ↻"}} {
		e := a.press(TurnPage, 1)
		e.Page, e.Parts = tt.page, []Part{{Text: tt.text}}
		a.do(e)
		if len(a.sends) != 1 || labels(a.sends[0].Part) != tt.shows {
			t.Fatalf("page %d: sends %+v", tt.page, a.sends)
		}
		if again := a.press(TurnPage, 1); true {
			again.Page, again.Parts = 6-tt.page-a.turns[1].Page, []Part{{Text: "?"}}
			if a.do(again); a.said() != string(Busy) {
				t.Errorf("a second press is told %q", a.said())
			}
		}
		a.delivered(nil).amend()
		if turn := a.turns[1]; turn.Reply != tt.text || turn.Page != tt.page || len(turn.Variants) != 3 || a.sketch() != "" {
			t.Errorf("page %d: %+v, %s", tt.page, turn, a.sketch())
		}
	}
	a.do(a.edit(1, "ONE")).due().do(a.answered("D")).delivered(nil).amend()
	if turn := a.turns[1]; turn.Reply != "D" || len(turn.Variants) != 0 {
		t.Errorf("after an edit of the question: %+v", turn)
	}
}

// TestShowAnswer: whoever presses says that the answer is not there, while it
// is looked for and after that. It is shown once, whatever is pressed (I2).
func TestShowAnswer(t *testing.T) {
	ask := func(t *testing.T) (*tale, Pressed) {
		a := newTale(t)
		a.do(a.message(1, "one")).due().do(a.answered("A")).delivered(&SendError{Kind: InDoubt}).wait(tellAfter)
		a.do(Looked{Incarnation: "x", Reply: 1, Finding: Unclear})
		if len(a.sends) != 1 || a.sends[0].Notice.Code != Doubtful {
			t.Fatalf("sends %+v", a.sends)
		}
		e := Pressed{Query: "q", Press: *a.sends[0].Notice.Press}
		a.delivered(nil)
		turn := a.turns[1]
		e.Turn, e.Message = &turn, a.state.HighestID
		return a, e
	}
	t.Run("while it is looked for", func(t *testing.T) {
		a, e := ask(t)
		if a.do(e); a.said() != string(Showing) || a.sketch() != "unbutton, answer, sends A, delivering" {
			t.Fatalf("pressed: %s, %s", a.said(), a.sketch())
		}
		if a.do(e); a.said() != string(Busy) || len(a.sends) != 1 {
			t.Errorf("pressed twice: %s, %d sends", a.said(), len(a.sends))
		}
		a.delivered(nil).amend()
		if a.do(e); a.said() != string(Outdated) || len(a.sends) != 0 || len(a.turns[1].Receipts) != 1 {
			t.Errorf("and again: %s, %d sends", a.said(), len(a.sends))
		}
	})
	t.Run("after newer input", func(t *testing.T) {
		a, e := ask(t)
		a.do(a.message(2, "two"))
		if a.do(e); len(a.sends) != 0 || len(a.state.Waiting()) != 2 {
			t.Errorf("I3: %s", a.sketch())
		}
	})
	t.Run("when it was given up", func(t *testing.T) {
		a, e := ask(t)
		a.wait(closeAfter).do(Looked{Incarnation: "x", Reply: 1, Finding: Unclear}).amend()
		turn := a.turns[1]
		e.Turn = &turn
		if len(turn.Missing) != 1 || a.state.answer() != nil {
			t.Fatalf("closed: %+v", turn)
		}
		if a.do(e); a.said() != string(Showing) || len(a.sends) != 1 || a.sends[0].Part.Text != "A" {
			t.Fatalf("pressed: %s, %+v", a.said(), a.sends)
		}
		if a.do(e); a.said() != string(Busy) || len(a.sends) != 1 {
			t.Errorf("pressed twice: %s, %d sends", a.said(), len(a.sends))
		}
		a.delivered(nil).amend()
		turn = a.turns[1]
		if a.do(e); a.said() != string(Outdated) || len(turn.Missing) != 0 || len(turn.Receipts) != 1 || len(a.sends) != 0 {
			t.Errorf("in the end: %s, %+v", a.said(), turn)
		}
	})
	t.Run("found meanwhile", func(t *testing.T) {
		a, e := ask(t)
		a.do(Looked{Incarnation: "x", Reply: 1, Finding: Found, Receipt: 77})
		if a.sketch() != "" {
			t.Errorf("found: %s", a.sketch())
		}
		if a.do(e); a.said() != string(Outdated) || len(a.sends) != 0 || a.state.Asking != nil {
			t.Errorf("pressed: %s", a.said())
		}
	})
}

// TestPressProvesVisibility: a part whose button is pressed is visible, whatever
// became of the answer to its send.
func TestPressProvesVisibility(t *testing.T) {
	for _, state := range []PartState{Claimed, Unknown} {
		a := newTale(t)
		a.rules.Regenerate = LastRequested
		a.do(a.message(1, "one")).due().do(a.answered("A"))
		e := Pressed{Query: "q", Message: 77, Press: a.sends[0].Part.Buttons[0].Press}
		if state == Unknown {
			a.delivered(&SendError{Kind: InDoubt})
		}
		turn := a.turns[1]
		e.Turn = &turn
		if a.do(e); a.said() != string(Redoing) {
			t.Fatalf("%s: told %q", state, a.said())
		}
		a.due().do(a.answered("B"))
		if last := a.sends[len(a.sends)-1].Part; last.Replaces != 77 || last.Text != "B" {
			t.Errorf("%s: then %+v", state, last)
		}
	}
}

// TestUnseen: where no preview shows that the model is at work, a notice with a
// button does, and goes when the work is over, however it ends.
func TestUnseen(t *testing.T) {
	for name, end := range map[string]func(a *tale, e Pressed){
		"answered": func(a *tale, _ Pressed) { a.do(a.answered("A")) },
		"stopped": func(a *tale, e Pressed) {
			if a.do(e); a.said() != string(Nothing) || a.state.Lease.Cancelled != WasStopped {
				a.t.Errorf("pressed: %s, %+v", a.said(), a.state.Lease)
			}
		},
		"superseded": func(a *tale, _ Pressed) { a.do(a.message(2, "two")) },
		"killed":     func(a *tale, _ Pressed) { a.do(Recovered{}) },
	} {
		t.Run(name, func(t *testing.T) {
			a := newTale(t)
			a.do(a.message(1, "one")).due().do(Unseen{a.work})
			if len(a.sends) != 1 || a.sends[0].Notice.Code != Working {
				t.Fatalf("sends %+v", a.sends)
			}
			e := Pressed{Query: "q", Press: *a.sends[0].Notice.Press}
			a.delivered(nil)
			e.Message = a.state.HighestID
			end(a, e)
			if !slices.Contains(a.result.Effects, Effect(Remove{e.Message})) || a.state.Standing != nil {
				t.Errorf("the notice stays: %s", a.sketch())
			}
			if a.do(e); a.said() != string(Outdated) {
				t.Errorf("a press afterwards is told %q", a.said())
			}
		})
	}
}
