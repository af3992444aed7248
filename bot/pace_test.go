package bot

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lastword/conversation"
)

// busy sends as the engine does for a time: what has to wait comes again
// when it said. It returns when each message was sent.
func busy(t *testing.T, r *rig, chat int64, d time.Duration) (at []time.Duration) {
	start := time.Now()
	for time.Since(start) < d {
		_, err := r.Send(t.Context(), key(chat), conversation.Part{Text: "x"}, conversation.Source{})
		if err == nil {
			at = append(at, time.Since(start))
			continue
		}
		e := sendError(t, err)
		if e.Kind != conversation.Later || e.After <= shortWait {
			t.Fatalf("got %+v", e)
		}
		time.Sleep(e.After)
	}
	return at
}

// within is the most that were sent in any window of a length.
func within(at []time.Duration, window time.Duration) (most int) {
	for i := range at {
		n := 0
		for _, o := range at[i:] {
			if o-at[i] < window {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at := busy(t, newRig(t, open()), 7, 20*time.Second)
		if at[2] > 0 || len(at) < 22 || within(at, 900*time.Millisecond) > chatBurst {
			t.Errorf("private chat: %v", at)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		at := busy(t, newRig(t, open()), -5, 5*time.Minute)
		if n := within(at, time.Minute); n > 20 || n < 15 {
			t.Errorf("group: %d in a minute: %v", n, at)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		var mu sync.Mutex
		var all []time.Duration
		var group sync.WaitGroup
		for chat := range int64(100) {
			group.Go(func() {
				at := busy(t, r, chat+1, 4*time.Second)
				mu.Lock()
				defer mu.Unlock()
				all = append(all, at...)
			})
		}
		group.Wait()
		if n := len(all); n > allBurst+4*allPerSecond || n < 4*allPerSecond {
			t.Errorf("%d messages in 4 s", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, open())
		for chat := range int64(50) {
			r.pace.wait(chat + 1)
		}
		time.Sleep(idleChat + slotKept + time.Minute)
		r.pace.wait(99)
		if n := len(r.pace.chats); n != 1 {
			t.Errorf("%d chats are remembered", n)
		}
	})
}

func TestUnusedSlotsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPace()
		for range chatBurst {
			p.wait(7)
		}
		if d := p.wait(7); d != time.Second {
			t.Fatalf("wait %v", d)
		}
		if d := p.wait(7); d != time.Second {
			t.Errorf("the slot is not kept: %v", d)
		}
		time.Sleep(time.Second)
		if d := p.wait(7); d > 0 {
			t.Errorf("the slot is not there: %v", d)
		}
		if d := p.wait(7); d != time.Second {
			t.Errorf("the slot is there twice: %v", d)
		}
		time.Sleep(time.Second + slotKept + time.Millisecond)
		for i := range chatBurst {
			if d := p.wait(7); d > 0 {
				t.Errorf("send %d after a pause: %v", i, d)
			}
		}
	})
}
