package conversation

import (
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
