package conversation

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// tale drives the rules by hand: no store, no loop.
type tale struct {
	t      *testing.T
	rules  Rules
	state  State
	now    time.Time
	result Result // of the last step
	turns  map[Version]Turn
	work   Lease  // of the last Generate
	sends  []Send // not answered yet
}

func newTale(t *testing.T) *tale {
	return &tale{
		t: t, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), turns: map[Version]Turn{},
		state: State{Key: Key{Channel: "test", Bot: 1, Chat: 1}, Conversation: Conversation{Incarnation: "x"}, HighestID: 50},
		rules: Rules{Config: DefaultConfig(), Limits: Limits{Retries: 2, ContextTokens: 1000}, Owner: "me"},
	}
}

func (a *tale) do(events ...Event) *tale {
	a.t.Helper()
	for _, e := range events {
		before := a.state.clone()
		next, result := a.rules.Step(a.state, e, a.now)
		if !reflect.DeepEqual(before, a.state.clone()) {
			a.t.Fatalf("%T changed the state that it was given", e)
		}
		if again, r2 := a.rules.Step(a.state, e, a.now); !reflect.DeepEqual(again, next) || !reflect.DeepEqual(r2, result) {
			a.t.Fatalf("%T gave two different results", e)
		}
		a.state, a.result = next, result
		for _, id := range result.Undo {
			delete(a.turns, id)
		}
		for _, turn := range result.Turns {
			a.turns[turn.ID] = turn
		}
		for _, f := range result.Effects {
			switch f := f.(type) {
			case Generate:
				a.work = f.Work
			case Send:
				a.sends = append(a.sends, f)
			}
		}
	}
	return a
}

func (a *tale) message(id int64, text string) Incoming {
	return Incoming{Addressed: true, Message: Message{Source: Source{Chat: 1, ID: id}, Author: Author{ID: 9}, Content: Content{Text: text}, Sent: a.now}}
}

func (a *tale) edit(id int64, text string) Edited {
	e := Edited{Incoming: a.message(id, text)}
	for _, turn := range a.turns {
		if inTurn(&turn, e.Message.Source) != nil {
			e.Turn = &turn
		}
	}
	return e
}

func (a *tale) wait(d time.Duration) *tale { a.now = a.now.Add(d); return a }

// due lets the time of the next deadline come.
func (a *tale) due() *tale {
	a.t.Helper()
	next := a.rules.Next(&a.state, a.now)
	if next.IsZero() {
		a.t.Fatal("nothing is due")
	}
	if next.After(a.now) {
		a.now = next
	}
	return a.do(Due{})
}

func (a *tale) answered(parts ...string) Generated {
	g := Generated{Work: a.work, Text: strings.Join(parts, "")}
	for _, p := range parts {
		g.Parts = append(g.Parts, Part{Text: p})
	}
	return g
}

// delivered answers the oldest open send.
func (a *tale) delivered(err *SendError) *tale {
	a.t.Helper()
	if len(a.sends) == 0 {
		a.t.Fatal("nothing was sent")
	}
	s := a.sends[0]
	a.sends = a.sends[1:]
	a.state.HighestID++
	return a.do(Delivered{Incarnation: "x", Reply: s.Reply, Index: s.Index, Receipt: a.state.HighestID, Err: err})
}

// told delivers the notices that are on their way.
func (a *tale) told() *tale {
	for len(a.sends) > 0 && a.sends[0].Notice != nil {
		a.delivered(nil)
	}
	return a
}

// phase brings a tale into a phase of the arrivals table.
func phase(a *tale, name string) {
	a.t.Helper()
	phases()[name](a)
}

func phases() map[string]func(a *tale) {
	return map[string]func(a *tale){
		"idle":       func(a *tale) { phase(a, "committed"); a.delivered(nil).delivered(nil) },
		"waiting":    func(a *tale) { a.do(a.message(1, "one")) },
		"generating": func(a *tale) { phase(a, "waiting"); a.due() },
		"committed":  func(a *tale) { phase(a, "generating"); a.do(a.answered("A", "B")) },
		"flooded": func(a *tale) { // committed, and nothing visible for certain
			phase(a, "committed")
			a.delivered(&SendError{Kind: Later, After: 5 * time.Second})
		},
		"visible":   func(a *tale) { phase(a, "committed"); a.delivered(nil) },
		"unknown":   func(a *tale) { phase(a, "committed"); a.delivered(&SendError{Kind: InDoubt}) },
		"protected": func(a *tale) { a.rules.MaxRestarts = 0; phase(a, "generating") },
		"finishing": func(a *tale) { a.rules.OnNewMessage = Finish; phase(a, "generating") },
		"failed": func(a *tale) {
			phase(a, "generating")
			a.do(Generated{Work: a.work, Err: &ModelError{Kind: Denied}}).delivered(nil)
		},
		"superseded": func(a *tale) { phase(a, "generating"); a.do(a.message(2, "two")) },
	}
}

// sketch tells in one line what a step has led to.
func (a *tale) sketch() string {
	var out []string
	add := func(yes bool, format string, args ...any) {
		if yes {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	for _, f := range a.result.Effects {
		switch f := f.(type) {
		case Send:
			if f.Notice != nil {
				add(true, "says %s", f.Notice.Code)
			} else {
				add(true, "sends %s", f.Part.Text)
			}
		case Generate:
			var texts []string
			for _, m := range f.Turn {
				texts = append(texts, m.Content.Text)
			}
			add(true, "asks %s", strings.Join(texts, "+"))
		default:
			add(true, "%s", strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", f), "conversation.")))
		}
	}
	for _, m := range a.state.Waiting() {
		add(true, "waits %s", m.Content.Text)
	}
	add(a.state.Timer.Set() && !a.state.Lease.Held(), "timer")
	add(a.state.Lease.Held() && !a.state.Lease.Delivering, "generating")
	add(a.state.Lease.Cancelled != "", "to end")
	add(a.state.answer() != nil, "delivering")
	add(a.state.Rest != "", "rests")
	add(a.state.Closing != nil, "resets later")
	return strings.Join(out, ", ")
}

// TestArrivals is the table of the package comment: what each arrival leads to
// in each phase.
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
func TestOutdatedResultsAreDropped(t *testing.T) {
	for name, spoil := range map[string]func(a *tale, g *Generated){
		"another owner":       func(_ *tale, g *Generated) { g.Work.Owner = "other" },
		"an older epoch":      func(_ *tale, g *Generated) { g.Work.Epoch-- },
		"another incarnation": func(_ *tale, g *Generated) { g.Work.Incarnation = "y" },
		"an expired lease":    func(a *tale, _ *Generated) { a.wait(a.rules.LeaseTTL) },
		"a newer generation":  func(a *tale, _ *Generated) { a.state.Generation++ },
		"a newer version":     func(a *tale, _ *Generated) { a.state.Version++ },
		"a cancelled call":    func(a *tale, _ *Generated) { a.do(a.message(2, "two")); a.state.Version-- },
	} {
		t.Run(name, func(t *testing.T) {
			a := newTale(t)
			phase(a, "generating")
			g := a.answered("A")
			spoil(a, &g)
			a.do(g)
			if a.state.answer() != nil || len(a.turns) > 0 || len(a.result.Journal) != 1 {
				t.Errorf("it was committed: %s", a.sketch())
			}
		})
	}
}

func TestFailuresAreBoundedAndToldOnce(t *testing.T) {
	a := newTale(t)
	phase(a, "waiting")
	calls := 0
	for a.state.Rest == "" {
		a.due()
		calls++
		a.do(Generated{Work: a.work, Err: &ModelError{Kind: Temporary}})
		if calls > 10 {
			t.Fatal("it never gives up")
		}
	}
	if calls != a.rules.Retries+1 || len(a.sends) != 1 || a.sends[0].Notice.Code != Failed || a.sends[0].Notice.ID == "" {
		t.Errorf("%d calls, then %+v", calls, a.sends)
	}
	if next := a.delivered(nil).rules.Next(&a.state, a.now); !next.IsZero() {
		t.Errorf("it is due again at %v", next)
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	a := newTale(t)
	phase(a, "generating")
	asked := a.now
	a.do(Generated{Work: a.work, Err: &ModelError{Kind: Temporary, RetryAfter: 20 * time.Second}})
	a.do(a.message(2, "two"))
	if got := a.due().now.Sub(asked); got < 20*time.Second || a.sketch() != "asks one+two, waits one, waits two, generating" {
		t.Errorf("after %v: %s", got, a.sketch())
	}
	a = newTale(t)
	phase(a, "generating")
	a.do(Generated{Work: a.work, Err: &ModelError{Kind: Temporary, RetryAfter: time.Hour}})
	if a.state.Rest != AfterFailure {
		t.Error("a person was left to wait for an hour (I5)")
	}
}

func TestWithdrawnTurnLeavesNoTrace(t *testing.T) {
	a := newTale(t)
	phase(a, "flooded")
	a.do(a.message(2, "two"))
	if len(a.turns) != 0 || a.state.Turned != 0 || a.state.Answered != 0 {
		t.Errorf("turns %v, %d tokens, answered %d", a.turns, a.state.Turned, a.state.Answered)
	}
}

func TestLeaseIsRenewedByItsOwnerOnly(t *testing.T) {
	a := newTale(t)
	phase(a, "generating")
	for range 10 {
		a.due()
		if !a.state.Lease.Live(a.now.Add(a.rules.LeaseTTL / 2)) {
			t.Fatal("the lease was not renewed in time")
		}
	}
	a.rules.Owner = "other"
	expiry := a.state.Lease.Expiry
	if a.wait(a.rules.LeaseTTL / 2).do(Due{}); a.state.Lease.Expiry != expiry || a.state.Lease.Owner != "me" {
		t.Error("another worker renewed or took a lease that is live")
	}
	if a.due().due(); a.state.Lease.Owner != "other" || a.state.Lease.Epoch != 2 {
		t.Errorf("an expired lease was not taken: %+v", a.state.Lease)
	}
}

func TestSleptThroughTheLease(t *testing.T) {
	a := newTale(t)
	phase(a, "generating")
	a.wait(3 * a.rules.LeaseTTL).do(Due{})
	if a.sketch() != "cancel, waits one, generating, to end" {
		t.Fatalf("after waking: %s", a.sketch())
	}
	if next := a.rules.Next(&a.state, a.now); !next.IsZero() {
		t.Error("it spins while the call comes back")
	}
	a.do(a.answered("A"))
	if a.sketch() != "waits one, timer" {
		t.Errorf("after the call came back: %s", a.sketch())
	}
}

// TestCallThatAnotherWorkerCancels is I4: only its own worker can end the call,
// which gets to know of it at the renewal; until then no other one starts.
func TestCallThatAnotherWorkerCancels(t *testing.T) {
	a := newTale(t)
	phase(a, "generating")
	a.rules.Owner = "other"
	a.do(a.message(2, "two"))
	a.rules.Owner = "me"
	if a.due(); a.sketch() != "cancel, waits one, waits two, generating, to end" {
		t.Errorf("at the renewal: %s", a.sketch())
	}
	a.rules.Owner = "other"
	if a.wait(a.rules.LeaseTTL / 2).do(Due{}); a.sketch() != "waits one, waits two, generating, to end" {
		t.Errorf("another worker, while it comes back: %s", a.sketch())
	}
	a.rules.Owner = "me"
	if a.do(Generated{Work: a.work, Err: errors.New("cancelled")}).due(); a.sketch() != "asks one+two, waits one, waits two, generating" {
		t.Errorf("when it has come back: %s", a.sketch())
	}
}

func TestStoppingClaimsAndStartsNothing(t *testing.T) {
	a := newTale(t)
	phase(a, "generating")
	a.rules.Stopping = true
	a.do(a.answered("A"))
	if len(a.sends) != 0 || a.state.answer().Parts[0].State != Pending {
		t.Errorf("%s", a.sketch())
	}
	a.rules.Stopping = false
	if a.do(Recovered{}); a.sketch() != "delivering" {
		t.Errorf("after the start: %s", a.sketch())
	}
	if a.due(); a.sketch() != "sends A, delivering" {
		t.Errorf("then: %s", a.sketch())
	}
}

// TestCatchUp: after a restart, nothing that nobody has seen yet is asked or
// sent before what people wrote meanwhile can have come in.
func TestCatchUp(t *testing.T) {
	for _, name := range []string{"waiting", "generating", "committed, not sent"} {
		a := newTale(t)
		if name == "committed, not sent" {
			phase(a, "generating")
			a.rules.Stopping = true
			a.do(a.answered("A"))
			a.rules.Stopping = false
		} else {
			phase(a, name)
		}
		a.wait(time.Minute).do(Recovered{})
		if strings.Contains(a.sketch(), "asks") || strings.Contains(a.sketch(), "sends") {
			t.Errorf("%s: at once: %s", name, a.sketch())
		}
		if wait := a.rules.Next(&a.state, a.now).Sub(a.now); wait <= 0 || wait > mostCatchUp {
			t.Errorf("%s: it waits for %v (I5)", name, wait)
		}
		a.do(a.message(2, "two")).due()
		if a.state.answer() != nil || !strings.Contains(a.sketch(), "asks one+two") {
			t.Errorf("%s: with what came: %s", name, a.sketch())
		}
	}
}

// TestCallThatNeverLeft: a call that was cancelled before anything of it had
// left is no restart.
func TestCallThatNeverLeft(t *testing.T) {
	for err, restarts := range map[error]int{ErrNotAsked: 0, context.Canceled: 1} {
		a := newTale(t)
		phase(a, "superseded")
		a.do(Generated{Work: a.work, Err: err})
		if a.state.Restarts != restarts {
			t.Errorf("%v: %d restarts, want %d", err, a.state.Restarts, restarts)
		}
	}
}

func TestRestartsEndInProtection(t *testing.T) {
	a := newTale(t)
	phase(a, "generating")
	for i := range 10 {
		a.do(a.message(int64(2+i), "more"))
		if a.state.Lease.Cancelled == "" {
			if i != a.rules.MaxRestarts {
				t.Errorf("protected after %d restarts", i)
			}
			return
		}
		a.do(Generated{Work: a.work, Err: errors.New("cancelled")})
		a.due()
	}
	t.Error("never protected")
}

// TestNobodyIsTold: as long as no notice is visible for certain there is another,
// and the search goes on, but not for ever (I1, I5).
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
