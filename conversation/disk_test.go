package conversation_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

var diskSeed = flag.Uint64("disk-seed", 1, "seed of the first random disk; a failing one prints its own")

// supervised is a world whose process is started again, after a while, whenever
// its store breaks, and whose channel brings again what was not stored.
type supervised struct {
	*world
	starts int
}

// onDisk runs a test in a world whose commits have the outcomes that fault says.
func onDisk(t *testing.T, fault func(n int) conversationtest.Outcome, test func(s *supervised)) {
	t.Helper()
	inWorld(t, func(w *world) {
		w.stop()
		w.disk = &conversationtest.Disk{Fault: fault}
		w.channel.PartSize = 12
		w.start()
		s := &supervised{world: w}
		test(s)
		w.disk.Fault = nil
		s.revive() // so that the world can end in order
	})
}

// revive starts the process again if it has ended.
func (s *supervised) revive() {
	s.t.Helper()
	for {
		select {
		case err := <-s.ended:
			if !errors.Is(err, conversation.ErrBroken) {
				s.t.Fatalf("the engine ended with %v", err)
			}
			s.close()
			s.after(200 * time.Millisecond)
			s.start()
			if s.starts++; s.starts > 100 {
				s.t.Fatal("the process does nothing but start")
			}
		default:
			return
		}
	}
}

// pass lets virtual time pass.
func (s *supervised) pass(d time.Duration) {
	s.t.Helper()
	const step = 20 * time.Millisecond
	for ; d > 0; d -= step {
		s.after(min(step, d))
		s.revive()
	}
}

// bring delivers an update until it is stored, as Telegram does.
func (s *supervised) bring(a conversation.Arrival) {
	s.t.Helper()
	s.update++
	a.Update, a.Digest = s.update, fmt.Sprint(s.update)
	b := conversation.Batch{Identity: alice.Identity(), Offset: s.update + 1, Arrivals: []conversation.Arrival{a}}
	for range 100 {
		err := s.engine.Receive(s.t.Context(), b)
		synctest.Wait()
		s.revive()
		if err == nil {
			return
		}
		s.pass(100 * time.Millisecond)
	}
	s.t.Fatal("I5: an update was never stored")
}

// talk is a burst, a third message that finds the model at work, its edit, and
// what is said when all of that is over.
func (s *supervised) talk() {
	s.t.Helper()
	var ids []int64
	for _, text := range []string{"#0001", "#0002", "#0003"} {
		id := s.channel.Next(alice, text)
		ids = append(ids, id)
		s.bring(message(alice, id, text))
		s.pass(map[string]time.Duration{"#0001": 100 * time.Millisecond, "#0002": 600 * time.Millisecond, "#0003": 500 * time.Millisecond}[text])
	}
	s.bring(edit(alice, ids[2], "#0003 edited"))
	s.pass(3 * time.Minute)
	s.settled("#0001 #0002 #0003")
	s.bring(message(alice, s.channel.Next(alice, "#0004"), "#0004"))
	s.pass(2 * time.Minute)
	s.settled("#0001 #0002 #0003", "#0004")
}

// settled holds what is visible against the guarantees: each message in one
// reply, whole, or a notice that says that it may be missing.
func (s *supervised) settled(turns ...string) {
	s.t.Helper()
	w := &walker{world: s.world, text: map[conversation.Key]map[int64]string{alice: {}}}
	for i, m := range []string{"#0001", "#0002", "#0003", "#0004"} {
		w.text[alice][int64(i)] = m
	}
	shown := w.replies(alice)
	unsure := w.unsure(alice)
	answered := map[string]int{}
	for _, r := range shown {
		for _, m := range mark.FindAllString(r, -1) {
			answered[m]++
		}
	}
	for _, m := range conversationtest.Marks(strings.Join(turns, " ")) {
		switch {
		case answered[m] > 1:
			s.t.Errorf("I2: %s is answered %d times: %q", m, answered[m], s.channel.Texts(alice))
		case answered[m] == 0 && !strings.Contains(unsure, m):
			s.t.Errorf("I1: %s is not answered: %q", m, s.channel.Texts(alice))
		}
	}
	for _, r := range shown { // I3: nobody has typed while one of them was sent
		if !slices.Contains(turns, strings.TrimPrefix(r, "re: ")) {
			s.t.Errorf("I3: %q is no answer to a turn: %q", r, s.channel.Texts(alice))
		}
	}
	w.checkCalls()
}

// TestDiskFaultAtEveryCommit lets each commit of a conversation fail in turn,
// once and three times in a row, in each way in which it can.
func TestDiskFaultAtEveryCommit(t *testing.T) {
	commits := 0
	onDisk(t, nil, func(s *supervised) { s.talk(); commits = s.disk.Commits() })
	if commits < 10 {
		t.Fatalf("the scenario has %d commits", commits)
	}
	for what, outcome := range map[string]conversationtest.Outcome{"full": conversationtest.Full, "lost": conversationtest.Lost, "kept": conversationtest.Kept} {
		for _, times := range []int{1, 3} {
			t.Run(fmt.Sprint(what, " ", times), func(t *testing.T) {
				for at := 1; at <= commits; at++ {
					onDisk(t, func(n int) conversationtest.Outcome {
						if n >= at && n < at+times {
							return outcome
						}
						return conversationtest.Written
					}, (*supervised).talk)
					if t.Failed() {
						t.Fatalf("with commit %d", at)
					}
				}
			})
		}
	}
}

// TestBadDisk lets a quarter of the commits fail, in all ways, until the disk is
// replaced.
func TestBadDisk(t *testing.T) {
	for i := range 30 {
		seed := *diskSeed + uint64(i)
		rng := rand.New(rand.NewPCG(seed, 0))
		onDisk(t, func(n int) conversationtest.Outcome {
			if n > 40 || rng.IntN(4) > 0 {
				return conversationtest.Written
			}
			return conversationtest.Outcome(1 + rng.IntN(3))
		}, (*supervised).talk)
		if t.Failed() {
			t.Fatalf("run it again with: go test ./conversation -run TestBadDisk -disk-seed %d", seed)
		}
	}
}
