package conversation_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

// A crash stops a process dead at one of its steps: a commit, or a call to the
// outside. It stops before the step has any effect, or after it has all of it
// and before the process knows. What the dead process still tries has none.
type crash struct {
	at    int  // the step; 0 for none
	after bool // it has taken effect

	mu    sync.Mutex
	steps int
	names []string // of the steps so far
	dead  chan struct{}
	gone  chan struct{} // closed when the process is cleared away
}

func newCrash(at int, after bool) *crash {
	return &crash{at: at, after: after}
}

// step makes a step; false if its process does not live to see the end of it.
func (c *crash) step(name string, do func()) bool {
	c.mu.Lock()
	select {
	case <-c.dead:
		c.mu.Unlock()
		return false
	default:
	}
	c.steps++
	c.names = append(c.names, name)
	hit := c.steps == c.at
	if hit && !c.after {
		close(c.dead)
		c.mu.Unlock()
		return false
	}
	c.mu.Unlock()
	do()
	if hit {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(c.dead)
		return false
	}
	select {
	case <-c.dead: // at another step, while this one took its time
		return false
	default:
		return true
	}
}

func (c *crash) died() bool {
	select {
	case <-c.dead:
		return true
	default:
		return false
	}
}

// crashStore, crashModel and crashChannel number what goes through them.
type crashStore struct {
	conversation.Store
	c *crash
}

func (s crashStore) Update(fn func(conversation.Tx) error) (err error) {
	if !s.c.step("commit", func() { err = s.Store.Update(fn) }) {
		return conversation.ErrBroken
	}
	return err
}

type crashModel struct {
	conversation.Model
	c *crash
}

func (m crashModel) Generate(ctx context.Context, p []conversation.PromptMessage, progress func(string)) (done conversation.Completion, err error) {
	if !m.c.step("model", func() { done, err = m.Model.Generate(ctx, p, progress) }) {
		<-m.c.gone
		return done, context.Canceled
	}
	return done, err
}

type crashChannel struct {
	*conversationtest.Channel
	c *crash
}

func (ch crashChannel) Send(ctx context.Context, k conversation.Key, p conversation.Part, target conversation.Source) (id int64, err error) {
	if !ch.c.step("send", func() { id, err = ch.Channel.Send(ctx, k, p, target) }) {
		<-ch.c.gone
		return 0, &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}
	}
	return id, err
}

func (ch crashChannel) Probe(ctx context.Context, k conversation.Key, p conversation.Part, ids []int64, stale bool) (met conversation.Probed, err error) {
	if !ch.c.step("probe", func() { met, err = ch.Channel.Probe(ctx, k, p, ids, stale) }) {
		<-ch.c.gone
		return met, errTest
	}
	return met, err
}

func (ch crashChannel) Unbutton(ctx context.Context, k conversation.Key, id int64) (err error) {
	if !ch.c.step("unbutton", func() { err = ch.Channel.Unbutton(ctx, k, id) }) {
		<-ch.c.gone
		return errTest
	}
	return err
}

// script is what happens in a scenario. It may call say, command, press and
// after only: they go on in the next process when the first has crashed.
type script struct {
	set  func(w *world) // before the start
	play func(w *world)
	owed string // marks that have to be answered, each once
}

var scripts = map[string]script{
	"burst": {play: func(w *world) {
		for _, text := range []string{"#1", "#2", "#3"} {
			w.say(alice, text)
			w.after(100 * time.Millisecond)
		}
	}, owed: "#1 #2 #3"},
	"third message": {play: func(w *world) {
		w.say(alice, "#1")
		w.say(alice, "#2")
		w.after(800 * time.Millisecond)
		w.say(alice, "#3")
	}, owed: "#1 #2 #3"},
	"finish": {set: func(w *world) { w.config.OnNewMessage = conversation.Finish }, play: func(w *world) {
		w.say(alice, "#1")
		w.after(800 * time.Millisecond)
		w.say(alice, "#2")
	}, owed: "#1 #2"},
	"edit of a waiting message": {play: func(w *world) {
		id := w.say(alice, "#1")
		w.after(200 * time.Millisecond)
		w.deliver(edit(alice, id, "#1e"))
	}, owed: "#1e"},
	"revision": {play: func(w *world) {
		id := w.say(alice, "#1")
		w.after(3 * time.Second)
		w.deliver(edit(alice, id, "#1e"))
	}, owed: "#1e"},
	"parts": {set: func(w *world) { w.channel.PartSize = 6 }, play: func(w *world) {
		w.say(alice, "#1 #2 #3 #4")
	}, owed: "#1 #2 #3 #4"},
	"flood on the second part": {set: func(w *world) {
		w.channel.PartSize = 6
		w.channel.Fault = func(n int, _ conversation.Key, _ string) conversationtest.Fault {
			if n == 2 {
				return conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.Later, After: 3 * time.Second, Err: errTest}}
			}
			return conversationtest.Fault{}
		}
	}, play: func(w *world) { w.say(alice, "#1 #2 #3 #4") }, owed: "#1 #2 #3 #4"},
	"migration": {play: func(w *world) {
		w.say(alice, "#1")
		w.after(800 * time.Millisecond)
		w.deliver(conversation.Arrival{Key: alice, Event: conversation.Migrated{To: carol}})
		w.say(carol, "#2")
	}, owed: "#1 #2"},
	"regenerate": {play: func(w *world) {
		w.say(alice, "#1")
		w.after(3 * time.Second)
		w.press(alice, "↻")
	}, owed: "#1"},
	"reset in mid-generation": {play: func(w *world) {
		w.say(alice, "#0")
		w.after(800 * time.Millisecond)
		w.command(alice, conversation.Reset{})
		w.after(100 * time.Millisecond)
		w.say(alice, "#1")
	}, owed: "#1"},
	"stop": {set: func(w *world) { w.model.Write = writing(3) }, play: func(w *world) {
		w.say(alice, "#1")
		w.after(1200 * time.Millisecond)
		w.command(alice, conversation.Stop{})
		w.after(2 * time.Second)
		w.say(alice, "#2")
	}, owed: "#2"},
	"a lost answer": {set: func(w *world) {
		w.channel.Fault = func(n int, _ conversation.Key, _ string) conversationtest.Fault {
			if n == 1 {
				return conversationtest.Fault{Err: &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}}
			}
			return conversationtest.Fault{}
		}
	}, play: func(w *world) {
		w.say(alice, "#1")
		w.say(bob, "#2")
	}, owed: "#1 #2"},
}

var carol = conversation.Key{Channel: "test", Bot: 1, Chat: 901}

// TestCrashAtEveryStep runs each script once to count its steps, and then twice
// for each of them with a crash there, before and after it. Whatever was lost,
// in the end every message is answered once, where it can be seen (I1, I2), no
// two calls were in flight at a time (I4), and the history is what can be seen
// (I7).
func TestCrashAtEveryStep(t *testing.T) {
	points := 0
	for _, name := range slices.Sorted(mapKeys(scripts)) {
		steps := runScript(t, name, newCrash(0, false), nil)
		for at := range steps {
			for _, after := range []bool{false, true} {
				runScript(t, name, newCrash(at+1, after), nil)
				points++
			}
		}
	}
	t.Logf("%d scripts, %d crash points", len(scripts), points)
}

// TestCommitLost: the last commit before a crash did not make it to the disk:
// it is as if the crash had come before it.
func TestCommitLost(t *testing.T) {
	points := 0
	for _, name := range []string{"third message", "parts", "regenerate", "a lost answer"} {
		probe := newCrash(0, false)
		steps := runScript(t, name, probe, nil)
		for at := range steps {
			if probe.names[at] != "commit" {
				continue
			}
			for _, lose := range []func(*testing.T, string){loseMeta, tearMeta} {
				runScript(t, name, newCrash(at+1, true), lose)
				points++
			}
		}
	}
	t.Logf("%d commits lost or torn", points)
}

// runScript plays a script with a crash and returns how many steps it had.
// spoil, if not nil, does to the file what a power failure does.
func runScript(t *testing.T, name string, c *crash, spoil func(*testing.T, string)) int {
	t.Helper()
	s := scripts[name]
	inWorld(t, func(w *world) {
		w.stop()
		if s.set != nil {
			s.set(w)
		}
		c.dead, c.gone = make(chan struct{}), make(chan struct{}) // in the bubble
		w.crash, w.spoil = c, spoil
		w.start()
		s.play(w)
		w.after(time.Minute)
		for range 3 {
			if w.press(alice, "show") || w.press(carol, "show") || w.press(bob, "show") {
				w.after(time.Minute)
			}
		}
		w.checkOnce(s.owed)
		if t.Failed() {
			t.Errorf("%s: crash at step %d of %v, after it: %t; shown %q, %q, %q", name, c.at, c.names, c.after,
				w.channel.Texts(alice), w.channel.Texts(bob), w.channel.Texts(carol))
		}
	})
	if t.Failed() {
		t.FailNow()
	}
	return c.steps
}

// checkOnce holds what is visible against what was said.
func (w *world) checkOnce(owed string) {
	var shown []string
	for _, k := range []conversation.Key{alice, carol, bob} {
		for _, text := range w.channel.Texts(k) {
			if !strings.HasPrefix(text, "(") {
				shown = append(shown, text)
			}
		}
	}
	all := strings.Join(shown, "") + " "
	for _, mark := range strings.Fields(owed) {
		if n := strings.Count(strings.ReplaceAll(all, "re:", " "), mark+" ") + strings.Count(all, mark+"\n"); n != 1 {
			w.t.Errorf("I1, I2: %s is answered %d times", mark, n)
		}
	}
	calls := w.model.Calls()
	for i := range calls {
		for j := range i {
			if a, b := calls[i], calls[j]; strings.Join(a.Turn, "")[:2] == strings.Join(b.Turn, "")[:2] && a.Start.Before(b.End) && b.Start.Before(a.End) {
				w.t.Errorf("I4: two calls at a time, for %v and %v", b.Turn, a.Turn)
			}
		}
	}
	home := alice
	if len(w.channel.Texts(carol)) > 0 {
		home = carol
	}
	w.say(home, "#end")
	w.after(10 * time.Second)
	calls = w.model.Calls()
	for _, p := range calls[len(calls)-1].Prompt {
		if p.Role == conversation.Assistant && !strings.Contains(all, strings.ReplaceAll(p.Text, "\n", "")) && !strings.Contains(all, p.Text) {
			w.t.Errorf("I7: nobody saw %q", p.Text)
		}
	}
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}
