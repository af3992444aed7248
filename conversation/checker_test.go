package conversation

import (
	"flag"
	"fmt"
	"hash/maphash"
	"runtime/debug"

	"testing"
	"time"
)

// bounds say how much can happen in a checked world. What is left of them is
// part of a scene.
type bounds struct {
	Workers  int
	Messages int
	Edits    int // at most one
	Resets   int
	Crashes  int
	Sleeps   int // leases that expire although their worker lives
	Failures int // model calls that do
	Mishaps  int // sends that have to wait, or of which nobody knows what became
	Blind    int // looks that neither find nor rule out
	Parts    int // of each answer
	Retries  int
	Finish   bool // the policy
}

// checkedConfig is what the rules are checked with. The second of three messages
// can still cancel a call, the third meets a protected one.
var checkedConfig = func() Config {
	c := DefaultConfig()
	c.Debounce, c.MaxWait, c.MaxRestarts, c.ReviseWindow = 500*time.Millisecond, time.Second, 1, 24*time.Hour
	c.Regenerate = NoRegenerate
	return c
}()

// mutant is a change of the rules that the checker has to find.
type mutant struct {
	owner  func(s State, own string) string         // for whom a worker that is due takes itself
	before func(s State, e Event) State             // what a step is given instead
	after  func(before, after State, e Event) State // what is stored instead
}

// violation is a guarantee that does not hold, and how it came to that.
type violation struct {
	guarantee string
	what      string
}

// checker searches all interleavings, breadth first: the first violation is one
// with the shortest way to it.
type checker struct {
	rules  Rules
	bounds bounds
	mutant mutant
	limit  int // scenes, after which the bounds are too wide

	seed   maphash.Seed
	buffer []byte
	nodes  []node
	known  map[uint64]int32
	queue  []*scene
	edges  [][2]int32 // of what needs nobody outside
	quiet  []int32    // scenes in which nothing happens until somebody says something
	moves  int
}

// node is a scene as it was reached first.
type node struct {
	parent int32
	by     happening
}

func newChecker(b bounds, m mutant) *checker {
	config := checkedConfig
	if b.Finish {
		config.OnNewMessage = Finish
	}
	return &checker{
		rules:  Rules{Config: config, Limits: Limits{Retries: b.Retries, ContextTokens: 1000}},
		bounds: b, mutant: m, limit: 3_000_000,
		seed: maphash.MakeSeed(), known: map[uint64]int32{},
	}
}

// first is the scene in which nobody has said anything.
func (c *checker) first() *scene {
	s := &scene{
		state: State{Key: Key{Channel: "test", Bot: 1, Chat: 1}, Conversation: Conversation{Incarnation: "x"}},
		left:  c.bounds,
	}
	for w := range c.bounds.Workers {
		s.workers = append(s.workers, string(rune('a'+w)))
	}
	s.canonical()
	return s
}

// search looks at every scene and returns what is wrong, with the actions that
// lead there; nil if nothing is.
func (c *checker) search() (*violation, []happening) {
	c.add(c.first(), -1, happening{})
	for at := int32(0); int(at) < len(c.queue); at++ {
		s := c.queue[at]
		c.queue[at] = nil // its successors are what is needed of it
		if bad, by := c.expand(at, s); bad != nil {
			return bad, append(c.path(at), by...)
		}
		if len(c.nodes) > c.limit {
			return &violation{"bounds", fmt.Sprintf("more than %d scenes", c.limit)}, nil
		}
	}
	if at := c.stuck(); at >= 0 {
		return &violation{"I5", "nothing that happens by itself leads to an end"}, c.path(at)
	}
	return nil, nil
}

// expand takes every action that is possible in a scene.
func (c *checker) expand(at int32, s *scene) (*violation, []happening) {
	quiet := true
	for _, a := range c.actions(s) {
		n, bad := c.apply(s, a)
		c.moves++
		if bad != nil {
			return bad, []happening{a}
		}
		to := c.add(n, at, a)
		if !a.outside() && to != at {
			quiet = false
			c.edges = append(c.edges, [2]int32{at, to})
		}
	}
	if !quiet {
		return nil, nil
	}
	c.quiet = append(c.quiet, at)
	if next := c.nextOfAll(s); !next.IsZero() {
		return &violation{"I5", "a deadline has passed, and to look changes nothing"}, nil
	}
	return s.referee.lost(), nil
}

// add notes a scene and returns its number.
func (c *checker) add(s *scene, parent int32, by happening) int32 {
	k := c.key(s)
	if at, ok := c.known[k]; ok {
		return at
	}
	at := int32(len(c.nodes))
	c.known[k] = at
	c.nodes = append(c.nodes, node{parent, by})
	c.queue = append(c.queue, s)
	return at
}

// stuck is a scene from which no quiet one is reached without somebody outside,
// -1 if there is none: whoever waits there waits for ever (I5).
func (c *checker) stuck() int32 {
	into := make([][]int32, len(c.nodes))
	for _, e := range c.edges {
		into[e[1]] = append(into[e[1]], e[0])
	}
	ends := make([]bool, len(c.nodes))
	todo := append([]int32(nil), c.quiet...)
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !ends[at] {
			ends[at] = true
			todo = append(todo, into[at]...)
		}
	}
	for at, ok := range ends {
		if !ok {
			return int32(at)
		}
	}
	return -1
}

// path is how a scene was reached first.
func (c *checker) path(at int32) []happening {
	if c.nodes[at].parent < 0 {
		return nil
	}
	return append(c.path(c.nodes[at].parent), c.nodes[at].by)
}

var deep = flag.Bool("checker-deep", false, "check wider bounds as well; takes minutes")

// TestEveryInterleaving checks I1 to I5 in every state that people, mishaps and
// two workers can lead to.
func TestEveryInterleaving(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // short-lived copies, and little else
	rows := []bounds{
		{Workers: 2, Messages: 3, Edits: 1, Resets: 1, Crashes: 1, Parts: 1},                           // what people do, and a crash
		{Workers: 2, Messages: 2, Resets: 1, Crashes: 1, Sleeps: 1, Parts: 1},                          // a lease that expires under its owner
		{Workers: 2, Messages: 1, Edits: 1, Crashes: 1, Sleeps: 1, Mishaps: 1, Parts: 1},               //
		{Workers: 2, Messages: 2, Crashes: 1, Failures: 1, Mishaps: 1, Blind: 1, Parts: 1, Retries: 1}, // the model and the channel
		{Workers: 2, Messages: 2, Resets: 1, Crashes: 1, Failures: 1, Mishaps: 1, Parts: 2},            // answers of two parts
		{Workers: 2, Messages: 2, Edits: 1, Resets: 1, Crashes: 1, Parts: 1, Finish: true},             //
		{Workers: 1, Messages: 2, Edits: 1, Crashes: 1, Sleeps: 1, Mishaps: 1, Parts: 1},               // one worker, and proof that the one before is gone
	}
	if testing.Short() {
		rows = rows[1:]
	}
	if *deep {
		rows = append(rows,
			bounds{Workers: 2, Messages: 3, Edits: 1, Resets: 1, Crashes: 1, Sleeps: 1, Parts: 1},
			bounds{Workers: 2, Messages: 2, Edits: 1, Crashes: 1, Sleeps: 1, Failures: 1, Mishaps: 1, Blind: 1, Parts: 1, Retries: 1},
			bounds{Workers: 1, Messages: 2, Edits: 1, Resets: 1, Crashes: 1, Mishaps: 1, Blind: 1, Parts: 2, Retries: 1},
		)
	}
	for _, b := range rows {
		start := time.Now()
		c := newChecker(b, mutant{})
		bad, path := c.search()
		t.Logf("%+v: %d states, %d transitions, %d quiet, %v", b, len(c.nodes), c.moves, len(c.quiet), time.Since(start).Round(time.Millisecond))
		if bad != nil {
			t.Errorf("%s: %s\n%s", bad.guarantee, bad.what, c.trace(path))
		}
	}
}
