package conversation

import (
	"iter"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// newestFirst is a history as a store lists it.
func newestFirst(turns []Turn) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for _, t := range slices.Backward(turns) {
			if !yield(t, nil) {
				return
			}
		}
	}
}

// TestPrunedHistoryGivesTheSamePrompt is I7 for what is forgotten: whatever the
// turns were like, whatever the service reports and whatever is asked next, the
// prompt is what it would be if nothing had been removed. Count does not help
// here: nothing is kept only because it is new.
func TestPrunedHistoryGivesTheSamePrompt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limits := Limits{ContextTokens: rapid.IntRange(0, 2000).Draw(t, "context")}
		e := &Engine{rules: Rules{Limits: limits}}
		s := &State{}
		var all []Turn
		for i, tokens := range rapid.SliceOfN(rapid.OneOf(rapid.IntRange(1, 40), rapid.IntRange(1, 3000)), 1, 120).Draw(t, "tokens") {
			all = append(all, Turn{
				ID: Version(i + 1), Messages: []Message{{Content: Content{Text: "?"}}}, Reply: "!", Tokens: tokens, Offset: s.Turned,
			})
			s.Turned += tokens
		}
		left := slices.Clone(all)
		for _, newest := range all { // as each of them was committed
			end := e.rules.outlived(newest)
			left = slices.DeleteFunc(left, func(old Turn) bool { return old.Offset+old.Tokens < end })
		}
		if rapid.Bool().Draw(t, "the newest is withdrawn") {
			newest := all[len(all)-1]
			s.Turned -= newest.Tokens
			all, left = all[:len(all)-1], left[:len(left)-1]
		}
		if rapid.Bool().Draw(t, "the service reported tokens") {
			s.Ratio = rapid.OneOf(rapid.Just(0.3), rapid.Float64Range(0.3, 3)).Draw(t, "ratio")
		}
		if rapid.Bool().Draw(t, "the prompt did not fit") {
			s.Budget = rapid.IntRange(1, 500).Draw(t, "budget")
		}
		asked := Turn{Messages: []Message{{Content: Content{Text: rapid.StringN(0, 900, -1).Draw(t, "asked")}}}}
		want, err := newPrompt(newestFirst(all), s, asked, e.budget(s))
		if err != nil {
			t.Fatal(err)
		}
		got, err := newPrompt(newestFirst(left), s, asked, e.budget(s))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("of %d turns %d are left; the prompt has %d of them instead of %d; %v", len(all), len(left), got.turns, want.turns, err)
		}
	})
}
