package conversation

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

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
