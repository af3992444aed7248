package conversation_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

var (
	simSeeds = flag.Int("seeds", 20, "simulations")
	simSeed  = flag.Uint64("seed", 1, "seed of the first simulation; a failing one prints its own")
)

const (
	simTalk  = 2 * time.Minute // of people, while everything goes wrong
	simQuiet = 4 * time.Minute // afterwards, when all is well again
)

// TestSimulation lets people in six chats do what people do, at once, with a
// model and a messenger that do what those do, and with processes that die. A
// referee that knows only what was said and what could be seen looks at it
// every second of virtual time.
func TestSimulation(t *testing.T) {
	seeds := *simSeeds
	if testing.Short() {
		seeds = min(seeds, 3)
	}
	for i := range seeds {
		seed := *simSeed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			simulate(t, seed)
			if t.Failed() {
				t.Logf("run it again with: go test ./conversation -run TestSimulation -seeds 1 -seed %d", seed)
			}
		})
	}
}

// TestSimulationReplays: the same seed is the same world, to the message and to
// the nanosecond. Otherwise a failure could not be looked into.
func TestSimulationReplays(t *testing.T) {
	for seed := *simSeed; seed < *simSeed+3; seed++ {
		a, b := strings.Split(simulate(t, seed), "\n"), strings.Split(simulate(t, seed), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("seed %d, line %d:\n%s\n%s", seed, i, a[i], b[i])
			}
		}
		if len(a) != len(b) {
			t.Fatalf("seed %d: %d and %d lines", seed, len(a), len(b))
		}
	}
}

// simulation is the world of one seed.
type simulation struct {
	*world
	seed  uint64
	rooms []*room
	plan  []planned
	log   simLog
	calm  bool // nothing goes wrong any more

	mu    sync.Mutex
	tries map[string]int // of the same call or send
	marks int
}

// planned is what happens at a time.
type planned struct {
	at time.Duration
	do func()
}

// simulate runs the world of a seed and returns all that could be seen.
func simulate(t *testing.T, seed uint64) (transcript string) {
	t.Helper()
	inWorld(t, func(w *world) {
		w.stop()
		s := &simulation{world: w, seed: seed, tries: map[string]int{}}
		rng := s.chance("world")
		w.limits.ContextTokens = 1_000_000 // the referee wants all of the history
		if rng.IntN(4) == 0 {
			w.config.OnNewMessage = conversation.Finish
		}
		if rng.IntN(2) == 0 {
			w.channel.PartSize = 60
		}
		policies := []conversation.Regenerating{conversation.LastRequested, conversation.FirstAccepted, conversation.Choose, conversation.NoRegenerate}
		w.config.Regenerate = policies[rng.IntN(4)]
		w.model.Write, w.channel.Fault, w.channel.Frame = s.write, s.fault, s.frame
		w.see, w.logs = s.claimed, &s.log
		s.makeRooms()
		s.makePlan()
		w.start()
		s.play()
		transcript = s.transcript()
	})
	return transcript
}

// chance is a source of chance that depends on the seed and a name only: what
// happens at the same time elsewhere makes no difference.
func (s *simulation) chance(name string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return rand.New(rand.NewPCG(s.seed, h.Sum64()))
}

// again is chance for something that happens again and again.
func (s *simulation) again(name string) *rand.Rand {
	s.mu.Lock()
	s.tries[name]++
	n := s.tries[name]
	s.mu.Unlock()
	return s.chance(fmt.Sprintf("%s %d", name, n))
}

// play carries out the plan. What falls into the time in which there is no
// process comes late, as from a messenger that keeps it.
func (s *simulation) play() {
	slices.SortStableFunc(s.plan, func(a, b planned) int { return int(a.at - b.at) })
	start := time.Now()
	for _, p := range s.plan {
		if wait := time.Until(start.Add(p.at)); wait > 0 {
			s.after(wait)
		}
		p.do()
		if s.t.Failed() {
			return
		}
	}
	s.mu.Lock()
	s.calm = true
	s.mu.Unlock()
	s.after(time.Minute)
	for _, r := range s.rooms {
		s.speak(r, true) // whatever a failure has left unanswered is in this turn
	}
	for range int(simQuiet / time.Second) {
		s.after(time.Second)
		s.check()
	}
	s.checkEnd()
}

// write is the model: slow, stalling, cut off, busy, refusing; or it answers.
func (s *simulation) write(ctx context.Context, _ int, prompt []conversation.PromptMessage, progress func(string)) (done conversation.Completion, err error) {
	asked := prompt[len(prompt)-1].Text
	s.asked(prompt)
	rng := s.again("model " + asked)
	some := func(most time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(most))) }
	answer := "re: " + strings.Join(conversationtest.Marks(asked), " ") + " ."
	if rng.IntN(3) == 0 {
		answer += strings.Repeat(" and so on", rng.IntN(12))
	}
	fate := rng.IntN(100)
	if s.isCalm() {
		fate = 99
	}
	failed := &conversation.ModelError{Kind: conversation.Temporary, Err: errTest}
	switch {
	case fate < 6:
		return done, cmp.Or[error](conversationtest.Sleep(ctx, 12*time.Second), failed)
	case fate < 11:
		failed.RetryAfter = time.Second + some(3*time.Second)
		return done, cmp.Or[error](conversationtest.Sleep(ctx, some(time.Second)), failed)
	case fate < 13:
		return done, cmp.Or[error](conversationtest.Sleep(ctx, some(time.Second)), &conversation.ModelError{Kind: conversation.Denied, Err: errTest})
	}
	pace := 20*time.Millisecond + some(120*time.Millisecond)
	if err := conversationtest.Sleep(ctx, 100*time.Millisecond+some(2*time.Second)); err != nil {
		return done, err
	}
	words := strings.SplitAfter(answer, " ")
	for i := range words {
		if fate < 20 && i == len(words)/2 {
			return done, failed // cut
		}
		if err := conversationtest.Sleep(ctx, pace); err != nil {
			return done, err
		}
		progress(strings.Join(words[:i+1], ""))
	}
	return conversation.Completion{Text: answer, Tokens: conversation.Tokens{Prompt: len(asked), Completion: len(words)}}, nil
}

func (s *simulation) isCalm() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calm
}

// fault is the messenger: slow, flooded, unreachable, or without an answer after
// it has, or has not, shown the message.
func (s *simulation) fault(_ int, to conversation.Key, text string) (f conversationtest.Fault) {
	rng := s.again("send " + to.String() + text)
	if s.isCalm() {
		return f
	}
	some := func(most time.Duration) time.Duration { return time.Duration(rng.Int64N(int64(most))) }
	f.Before, f.After = some(20*time.Millisecond), some(20*time.Millisecond)
	if rng.IntN(4) == 0 {
		f.Before, f.After = some(400*time.Millisecond), some(300*time.Millisecond)
	}
	switch n := rng.IntN(100); {
	case n < 8:
		f.Err = &conversation.SendError{Kind: conversation.Later, After: time.Second + some(3*time.Second), Err: errTest}
	case n < 11:
		f.Err = &conversation.SendError{Kind: conversation.NotSent, Err: errTest}
	case n < 21:
		f.Err, f.Landed = &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}, n < 16
	}
	return f
}

func (s *simulation) frame(ctx context.Context, k conversation.Key, text string) error {
	if rng := s.again("draft " + k.String() + text); !s.isCalm() && rng.IntN(10) == 0 {
		return errTest
	}
	return conversationtest.Sleep(ctx, 5*time.Millisecond)
}

// transcript is what can be seen in the end.
func (s *simulation) transcript() string {
	var b strings.Builder
	for _, m := range s.channel.Shown() {
		fmt.Fprintf(&b, "%s %s user=%t %q\n", m.At.Format("04:05.000000000"), m.Key, m.User, m.Text)
	}
	return b.String()
}

// simLog is a log that nothing of what people say may be in (I8).
type simLog struct {
	mu   sync.Mutex
	said []string
}

func (l *simLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if mark.Match(p) {
		l.said = append(l.said, string(bytes.TrimSpace(p)))
	}
	return len(p), nil
}
