package conversation

import (
	"strings"
	"testing"
	"time"
)

func TestArrivals(t *testing.T) {
	arrivals := map[string]func(a *tale) Event{
		"message": func(a *tale) Event { return a.message(2, "two") },
		"edit":    func(a *tale) Event { return a.edit(1, "ONE") },
		"phantom": func(a *tale) Event { return a.edit(1, "one") },
		"delete": func(a *tale) Event {
			d := Deleted{Source: Source{Chat: 1, ID: 1}}
			d.Turn = a.edit(1, "").Turn
			return d
		},
		"reset": func(*tale) Event { return Reset{} },
		"stop":  func(*tale) Event { return Stop{} },
		"left":  func(*tale) Event { return Left{} },
		"crash": func(*tale) Event { return Recovered{} },
	}
	for _, row := range []struct{ phase, arrival, want string }{
		{"idle", "message", "waits two, timer"},
		{"idle", "edit", ""},
		{"idle", "phantom", ""},
		{"idle", "delete", ""},
		{"idle", "reset", "unbutton, says reset_done"},
		{"idle", "stop", "says nothing_to_stop"},
		{"idle", "left", "rests"},
		{"idle", "crash", ""},

		{"waiting", "message", "waits one, waits two, timer"},
		{"waiting", "edit", "waits ONE, timer"},
		{"waiting", "phantom", "waits one, timer"},
		{"waiting", "delete", ""},
		{"waiting", "reset", "says reset_done"},
		{"waiting", "stop", "says stop_dropped"},
		{"waiting", "left", "waits one, rests"},
		{"waiting", "crash", "waits one, timer"},

		{"generating", "message", "cancel, waits one, waits two, generating, to end"},
		{"generating", "edit", "cancel, waits ONE, generating, to end"},
		{"generating", "phantom", "waits one, generating"},
		{"generating", "delete", "cancel, generating, to end"},
		{"generating", "reset", "cancel, says reset_done, generating, to end"},
		{"generating", "stop", "cancel, waits one, generating, to end, rests"},
		{"generating", "left", "cancel, waits one, generating, to end, rests"},
		{"generating", "crash", "waits one, timer"},

		{"protected", "message", "waits one, waits two, generating"},
		{"protected", "edit", "waits ONE, generating"},
		{"protected", "reset", "cancel, says reset_done, generating, to end"},
		{"protected", "stop", "cancel, waits one, generating, to end, rests"},

		{"finishing", "message", "waits one, waits two, generating"},
		{"finishing", "edit", "cancel, waits ONE, generating, to end"},

		{"superseded", "message", "waits one, waits two, waits two, generating, to end"},
		{"superseded", "stop", "says stop_done, waits one, waits two, generating, to end, rests"},
		{"superseded", "crash", "waits one, waits two, timer"},

		{"flooded", "message", "waits one, waits two, timer"},
		{"flooded", "edit", "waits ONE, timer"},
		{"flooded", "phantom", "delivering"},
		{"flooded", "reset", "says reset_done"},
		{"flooded", "stop", "says stop_done, waits one, rests"},
		{"flooded", "left", "waits one, rests"},
		{"flooded", "crash", "delivering"},

		{"committed", "message", "abort, waits two, delivering"},
		{"committed", "edit", "abort, delivering"},
		{"committed", "reset", "abort, delivering, resets later"},
		{"committed", "stop", "says stop_rest, delivering"},
		{"committed", "crash", "look, delivering"},

		{"visible", "message", "waits two, delivering"},
		{"visible", "edit", "delivering"},
		{"visible", "reset", "delivering, resets later"},
		{"visible", "stop", "says nothing_to_stop, delivering"},
		{"visible", "crash", "look, delivering"},

		{"unknown", "message", "look, waits two, delivering"},
		{"unknown", "crash", "look, delivering"},

		{"failed", "message", "waits one, waits two, timer"},
		{"failed", "edit", "waits ONE, timer"},
		{"failed", "stop", "says nothing_to_stop, waits one, rests"},
		{"failed", "crash", "waits one, rests"},
	} {
		t.Run(row.phase+"/"+row.arrival, func(t *testing.T) {
			a := newTale(t)
			phase(a, row.phase)
			a.do(arrivals[row.arrival](a))
			if got := a.sketch(); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestDebounceMovesUpToTheCap(t *testing.T) {
	a := newTale(t)
	start := a.now
	a.do(a.message(1, "m"))
	for i := range 20 {
		if want := min(a.now.Sub(start)+a.rules.Debounce, a.rules.MaxWait); a.state.Timer.Due.Sub(start) != want {
			t.Fatalf("after %v the timer is at %v, want %v", a.now.Sub(start), a.state.Timer.Due.Sub(start), want)
		}
		a.wait(time.Second)
		if !a.now.Before(a.state.Timer.Due) {
			return
		}
		a.do(a.message(int64(2+i), "m"))
	}
	t.Fatal("the cap never came")
}

func TestHoldIsWithinTheCap(t *testing.T) {
	a := newTale(t)
	e := a.message(1, "a long piece")
	e.Hold = 4 * time.Second
	a.do(e)
	if got := a.state.Timer.Due.Sub(a.now); got != 4*time.Second {
		t.Errorf("held for %v", got)
	}
	e.Hold, e.Message.Source.ID = time.Hour, 2
	if got := a.do(e).state.Timer.Due.Sub(a.now); got != a.rules.MaxWait {
		t.Errorf("held for %v, want no longer than max_wait", got)
	}
}

// TestOutdatedResultsAreDropped is I3 and I4: no result commits unless the
// lease, the incarnation, the generation and the version are still its own.

func TestGroups(t *testing.T) {
	chatter := func(a *tale, author, id int64) Incoming {
		e := a.message(id, "chatter")
		e.Group, e.Addressed, e.Message.Author.ID = true, false, author
		return e
	}
	a := newTale(t)
	a.do(chatter(a, 9, 1))
	if a.state.Version != 0 {
		t.Error("chatter raised the version")
	}
	asked := a.message(2, "asked")
	asked.Group = true
	a.do(asked, chatter(a, 8, 3), chatter(a, 9, 4))
	if got := len(a.state.Waiting()); got != 2 {
		t.Errorf("%d messages wait, want the question and what its author added", got)
	}
	a.due().do(chatter(a, 9, 5))
	if got := a.sketch(); strings.Contains(got, "to end") {
		t.Error("chatter of the author cancelled a turn that had started")
	}
	a.do(a.answered("A"))
	if a.sends[0].Target.ID != 4 {
		t.Errorf("the reply in a group quotes %v", a.sends[0].Target)
	}
}
