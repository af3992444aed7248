package conversation

import "testing"

// TestCheckerFindsMutants: each of these has been a bug of some bot. A checker
// that does not find them proves nothing by finding nothing.
func TestCheckerFindsMutants(t *testing.T) {
	for _, row := range []struct {
		name   string
		want   string // the guarantee that it breaks
		bounds bounds
		mutant mutant
	}{
		{"commit without the version check", "I3", bounds{Workers: 1, Messages: 2, Parts: 1},
			mutant{before: func(s State, e Event) State {
				// Newer input has cancelled the call, and that alone would do.
				if _, ok := e.(Generated); ok && s.generating() {
					s.Lease.Version, s.Lease.Cancelled = s.Version, ""
				}
				return s
			}}},
		{"release without the re-check", "I1", bounds{Workers: 1, Messages: 1, Edits: 1, Mishaps: 1, Parts: 1},
			mutant{after: func(before, after State, _ Event) State {
				if !before.Timer.Set() && after.Timer.Reason == Resume {
					after.Timer = Timer{}
				}
				return after
			}}},
		{"renewal without the owner check", "I5", bounds{Workers: 2, Messages: 1, Crashes: 1, Parts: 1},
			mutant{owner: func(s State, own string) string {
				if s.Lease.Live(now0) {
					return s.Lease.Owner
				}
				return own
			}}},
		{"timer written with the conversation", "I1", bounds{Workers: 1, Messages: 2, Parts: 1},
			mutant{after: func(before, after State, e Event) State {
				// A turn that starts takes the timer off the record that it saves
				// when it comes back, unless it has armed one itself.
				if _, ok := e.(Generated); ok && after.Timer == before.Timer {
					after.Timer = Timer{}
				}
				return after
			}}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if bad, _ := newChecker(row.bounds, mutant{}).search(); bad != nil {
				t.Fatalf("without the change: %s: %s", bad.guarantee, bad.what)
			}
			c := newChecker(row.bounds, row.mutant)
			bad, path := c.search()
			if bad == nil {
				t.Fatalf("not found in %d states", len(c.nodes))
			}
			t.Logf("found as %s after %d states: %s\n%s", bad.guarantee, len(c.nodes), bad.what, c.trace(path))
			if bad.guarantee != row.want {
				t.Errorf("found as %s, want %s", bad.guarantee, row.want)
			}
		})
	}
}
