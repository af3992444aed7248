package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"lastword/conversation"
)

// walker is a page that does what the protocol asks of one: what is not
// acknowledged it sends again, unchanged, and it shows what the log says.
type walker struct {
	*webWorld
	random *rand.Rand
	page   *page
	said   []string         // marks, in the order in which they were written
	unsent []map[string]any // oldest first
	shown  map[int64]shownMessage
	seq    int64
}

// TestWebWalk lets a person write, edit and leave, the network break, and the
// process die at any commit, for a while: each message is answered once, in
// order, and the page shows that (I1, I2, I7).
func TestWebWalk(t *testing.T) {
	seeds := 25
	if testing.Short() {
		seeds = 5
	}
	for seed := range seeds {
		inWebWorld(t, func(t *testing.T, w *webWorld) {
			v := &walker{webWorld: w, random: rand.New(rand.NewPCG(uint64(seed), 5)), shown: map[int64]shownMessage{}}
			if seed%2 == 1 {
				w.stop()
				w.turn.OnNewMessage = conversation.Finish
				w.start()
			}
			v.connect()
			for range 40 {
				v.step()
				v.after(time.Duration(v.random.IntN(1500)) * time.Millisecond)
				v.read()
			}
			v.settle()
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		})
	}
}

func (v *walker) step() {
	switch n := v.random.IntN(20); {
	case v.dead.Load(): // the process died at a commit
		v.page.cut()
		v.kill()
		v.start()
		v.connect()
	case v.page == nil || v.page.ended():
		v.connect()
	case n < 9:
		mark := fmt.Sprintf("#%d", len(v.said)+1)
		v.said = append(v.said, mark)
		v.post(map[string]any{"type": "message", "client_msg_id": "m" + mark[1:], "text": mark})
	case n < 11:
		v.edit()
	case n < 14:
		v.page.cut()
		v.connect()
	case n < 16:
		v.page.cut() // and stays away for a while
	case n < 17:
		v.connect() // another window, which takes over
	default:
		left, late := v.random.IntN(6)+1, v.random.IntN(2) == 0
		v.setTrap(func(conversation.Tx) (before, after bool) {
			left--
			return left == 0 && !late, left == 0 && late
		})
	}
}

// edit changes the text of what the person wrote last, so that it can still be
// told from the rest.
func (v *walker) edit() {
	var last shownMessage
	for _, m := range v.shown {
		if m.From == "user" && m.ID > last.ID {
			last = m
		}
	}
	if last.ID == 0 || strings.Contains(last.Text, "edited") {
		return
	}
	v.post(map[string]any{"type": "edit", "client_msg_id": fmt.Sprintf("e%d", last.ID), "id": last.ID, "text": last.Text + " edited"})
}

func (v *walker) post(f map[string]any) {
	v.unsent = append(v.unsent, f)
	v.page.trySend(f)
	synctest.Wait()
}

func (p *page) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closed != nil
}

// trySend sends a frame that may not leave: the process may be dead.
func (p *page) trySend(f map[string]any) {
	f["v"] = 1
	data, _ := json.Marshal(f)
	_ = p.socket.Write(p.w.t.Context(), websocket.MessageText, data)
}

// connect comes back with what the page has, and sends again what is not
// acknowledged.
func (v *walker) connect() {
	v.read()
	v.page = v.open(v.seq, true)
	for _, f := range v.unsent {
		v.page.trySend(f)
	}
	synctest.Wait()
}

// read takes in the frames that have come.
func (v *walker) read() {
	if v.page == nil {
		return
	}
	v.page.mu.Lock()
	frames := v.page.frames
	v.page.frames = nil
	v.page.mu.Unlock()
	for _, f := range frames {
		switch f.Type {
		case "history":
			for _, m := range f.Messages {
				v.shown[m.ID] = m
			}
			v.seq = max(v.seq, f.Last)
		case "message_ack":
			v.unsent = slices.DeleteFunc(v.unsent, func(u map[string]any) bool { return u["client_msg_id"] == f.ClientID })
		case "message_nack":
			if f.Code != "try_later" && f.Code != "too_fast" {
				v.t.Errorf("refused: %s", f.raw)
			}
		}
	}
}

// settle lets everything come to its end and looks at what there is.
func (v *walker) settle() {
	v.setTrap(nil)
	if v.dead.Load() {
		v.page.cut()
		v.kill()
		v.start()
	}
	for range 4 {
		v.connect()
		v.after(30 * time.Second)
		v.read()
	}
	if len(v.unsent) > 0 {
		v.t.Errorf("never acknowledged: %v", v.unsent)
	}
	var said, answered []string
	ids := []int64{}
	for id := range v.shown {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		m := v.shown[id]
		switch {
		case m.Gone:
		case m.From == "user":
			said = append(said, strings.Fields(m.Text)[0])
		case m.From == "bot":
			answered = append(answered, strings.Fields(strings.TrimPrefix(m.Text, "re: "))...)
		default:
			v.t.Errorf("a notice: %s", m.Text)
		}
	}
	if !slices.Equal(said, v.said) {
		v.t.Errorf("I7: the page shows %q, written was %q", said, v.said)
	}
	if !slices.Equal(answered, v.said) {
		v.t.Errorf("I1, I2: answered %q, written was %q", answered, v.said)
	}
}
