package conversation_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

var (
	walks    = flag.Int("walks", 40, "random walks")
	walkSeed = flag.Uint64("walk-seed", 1, "seed of the first walk; a failing one prints its own")
)

const stepsPerWalk = 260

// TestRandomWalk lets people, the model and the channel do anything in any
// order, with restarts from disk and kills at any point, and checks the
// guarantees after each step.
func TestRandomWalk(t *testing.T) {
	for i := range fewer(*walks) {
		seed := *walkSeed + uint64(i)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(w *world) { newWalker(w, seed).walk() })
			if t.Failed() {
				t.Logf("run it again with: go test ./conversation -run TestRandomWalk -walks 1 -walk-seed %d", seed)
			}
		})
	}
}

// walker is the world of a walk and what it knows of it from outside.
type walker struct {
	*world
	rng    *rand.Rand
	chats  []conversation.Key
	marks  int
	mu     sync.Mutex                            // of the maps, which sends check at any time
	text   map[conversation.Key]map[int64]string // what users sent, by message id
	owed   map[conversation.Key]map[string]bool  // marks that must be answered in the end
	doubts map[conversation.Key]string           // replies that may not have arrived, also before a reset
	kind   atomic.Bool                           // nothing goes wrong any more
	finish bool
}

func newWalker(w *world, seed uint64) *walker {
	k := &walker{
		world: w, rng: rand.New(rand.NewPCG(seed, 0)), chats: []conversation.Key{alice, bob},
		text: map[conversation.Key]map[int64]string{}, owed: map[conversation.Key]map[string]bool{}, doubts: map[conversation.Key]string{},
	}
	for _, c := range k.chats {
		k.text[c], k.owed[c] = map[int64]string{}, map[string]bool{}
	}
	w.stop()
	w.limits.ContextTokens = 1_000_000 // the checks of the history want all of it
	if k.chance(30) {
		w.config.OnNewMessage, k.finish = conversation.Finish, true
	}
	if k.chance(50) {
		w.channel.PartSize = 12
	}
	w.config.Regenerate = []conversation.Regenerating{conversation.LastRequested, conversation.FirstAccepted, conversation.Choose}[k.rng.IntN(3)]
	w.model.Answer = k.answer
	w.channel.Fault = k.fault
	w.start()
	return k
}

func (k *walker) chance(percent int) bool { return k.rng.IntN(100) < percent }

func (k *walker) upTo(d time.Duration) time.Duration {
	return time.Duration(k.rng.Int64N(int64(d)))
}

// answer is what the model does. Only one call is asked at a time, so the
// random source is not shared.
func (k *walker) answer(ctx context.Context, n int, prompt []conversation.PromptMessage) (conversation.Completion, error) {
	marks := conversationtest.Marks(prompt[len(prompt)-1].Text)
	r := rand.New(rand.NewPCG(uint64(n), 7))
	if err := conversationtest.Sleep(ctx, time.Duration(r.Int64N(int64(2*time.Second)))); err != nil {
		return conversation.Completion{}, err
	}
	if !k.kind.Load() && r.IntN(100) < 10 {
		kinds := []conversation.ModelErrorKind{conversation.Temporary, conversation.Temporary, conversation.Denied}
		return conversation.Completion{}, &conversation.ModelError{Kind: kinds[r.IntN(3)], Err: errTest}
	}
	return conversation.Completion{Text: "re: " + strings.Join(marks, " ") + " ."}, nil
}

// fault is what becomes of a send.
func (k *walker) fault(n int, to conversation.Key, text string) conversationtest.Fault {
	k.checkCurrent(to, text)
	r := rand.New(rand.NewPCG(uint64(n), 11))
	var f conversationtest.Fault
	if k.kind.Load() {
		return f
	}
	if r.IntN(2) == 0 {
		f.Before = time.Duration(r.Int64N(int64(400 * time.Millisecond)))
		f.After = time.Duration(r.Int64N(int64(200 * time.Millisecond)))
	}
	switch r.IntN(12) {
	case 0:
		f.Err = &conversation.SendError{Kind: conversation.Later, After: time.Duration(r.Int64N(int64(4 * time.Second))), Err: errTest}
	case 1:
		f.Err = &conversation.SendError{Kind: conversation.NotSent, Err: errTest}
	case 2:
		f.Err, f.Landed = &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}, true
	case 3:
		f.Err = &conversation.SendError{Kind: conversation.InDoubt, Err: errTest}
	}
	return f
}

func (k *walker) walk() {
	for range stepsPerWalk {
		k.step()
		k.after(k.upTo(700 * time.Millisecond))
		k.check()
		if k.t.Failed() {
			return
		}
	}
	// Everything is well again, and everybody says one more thing: whatever a
	// failure has left unanswered has to be in the last turn.
	k.kind.Store(true)
	k.after(time.Minute)
	for _, c := range k.chats {
		k.speak(c)
	}
	k.after(2 * time.Minute)
	k.check()
	k.checkAnswered()
}

func (k *walker) step() {
	c := k.chats[k.rng.IntN(len(k.chats))]
	k.doubts[c] += k.unsure(c)
	switch n := k.rng.IntN(100); {
	case n < 55:
		k.speak(c)
	case n < 60:
		k.pressAny(c)
	case n < 75:
		k.change(c)
	case n < 78:
		k.again(c)
	case n < 81:
		k.command(c, conversation.Reset{})
		k.forgive(c) // a reset drops what waits
	case n < 85:
		k.command(c, conversation.Stop{})
		k.forgive(c) // so does a stop before the generation
	case n < 87:
		k.command(c, conversation.AskStatus{})
	case n < 91:
		k.kill()
		k.start()
	case n < 93:
		k.stop()
		k.after(k.upTo(10 * time.Second))
		k.start()
	default:
		k.after(k.upTo(8 * time.Second))
	}
}

// pressAny presses a button, if there is one. A part that is shown late would
// look like one of another reply, so that is done with whole replies only.
func (k *walker) pressAny(c conversation.Key) {
	labels := []string{"↻", "◀", "▶", "show"}
	if k.channel.PartSize > 0 {
		labels = labels[:3]
	}
	k.press(c, labels[k.rng.IntN(len(labels))])
}

func (k *walker) speak(c conversation.Key) {
	k.marks++
	mark := fmt.Sprintf("#%04d", k.marks)
	id := k.say(c, mark)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text[c][id] = mark
	k.owed[c][mark] = true
}

// forgive drops what a chat is owed.
func (k *walker) forgive(c conversation.Key) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.owed[c] = map[string]bool{}
}

// change edits one of the newest messages of a chat. Its mark stays.
func (k *walker) change(c conversation.Key) {
	ids := slices.Sorted(maps.Keys(k.text[c]))
	if len(ids) == 0 {
		return
	}
	id := ids[max(0, len(ids)-1-k.rng.IntN(4))]
	text := k.text[c][id]
	if k.chance(70) { // else nothing changes: a phantom edit
		text += " edited"
	}
	k.mu.Lock()
	k.text[c][id] = text
	k.mu.Unlock()
	k.deliver(edit(c, id, text))
}

// again redelivers a message.
func (k *walker) again(c conversation.Key) {
	for id, text := range k.text[c] {
		k.deliver(message(c, id, strings.Fields(text)[0]))
		return
	}
}

var mark = regexp.MustCompile(`#\d{4}`)

// replies joins the parts that a chat shows to whole replies.
func (k *walker) replies(c conversation.Key) (out []string) {
	for _, text := range k.channel.Texts(c) {
		switch {
		case strings.HasPrefix(text, "("):
		case strings.HasPrefix(text, "re: "):
			out = append(out, text)
		case len(out) > 0:
			out[len(out)-1] += text
		}
	}
	return out
}

// check holds what is visible, and what is stored, against the guarantees.
func (k *walker) check() {
	k.t.Helper()
	for _, c := range k.chats {
		answered := map[string]bool{}
		for _, r := range k.replies(c) {
			for _, m := range mark.FindAllString(r, -1) {
				if answered[m] {
					k.t.Errorf("I2: %s is answered twice in %v: %q", m, c, k.replies(c))
				}
				answered[m] = true
			}
		}
	}
	k.checkCalls()
	k.checkStored()
}

func (k *walker) checkCalls() {
	calls := k.model.Calls()
	running := map[conversation.Key]conversationtest.Call{}
	for _, call := range calls {
		c := k.chatOf(call.Turn)
		if last, ok := running[c]; ok && (last.End.IsZero() || last.End.After(call.Start)) {
			k.t.Errorf("I4: two model calls of %v at once, at %v", c, call.Start)
		}
		running[c] = call
	}
	if len(calls) > 0 {
		k.checkPrompt(calls[len(calls)-1])
	}
}

func (k *walker) chatOf(marks []string) conversation.Key {
	for c, texts := range k.text {
		for _, text := range texts {
			if slices.Contains(marks, strings.Fields(text)[0]) {
				return c
			}
		}
	}
	return conversation.Key{}
}

// checkPrompt is I7: each message once, each reply as it was shown, in order.
func (k *walker) checkPrompt(call conversationtest.Call) {
	c := k.chatOf(call.Turn)
	seen := map[string]bool{}
	last := ""
	shown := k.replies(c)
	for _, p := range call.Prompt {
		if p.Role == conversation.Assistant {
			i := slices.IndexFunc(shown, func(s string) bool {
				// The tail of a reply whose head may not have arrived seems to belong to the one before.
				return strings.HasPrefix(s, strings.ReplaceAll(p.Text, "\n", ""))
			})
			if i < 0 && !strings.Contains(k.doubts[c]+k.unsure(c), p.Text) {
				k.t.Errorf("I7: the prompt holds a reply that %v never saw in this order: %q of %q; all: %q", c, p.Text, shown, k.channel.Texts(c))
				return
			}
			shown = shown[i+1:] // of one that may not have arrived: nothing
			continue
		}
		for _, m := range mark.FindAllString(p.Text, -1) {
			if seen[m] || m < last {
				k.t.Errorf("I7: %s is twice, or out of order, in the prompt %v", m, call.Prompt)
			}
			seen[m], last = true, m
		}
	}
}

// checkCurrent is I3. It runs when a part is claimed for sending.
func (k *walker) checkCurrent(c conversation.Key, text string) {
	if !strings.HasPrefix(text, "re: ") || k.finish || k.channel.PartSize > 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	answered := strings.Join(k.replies(c), " ")
	if strings.Contains(answered, text) {
		return // a revision, tried again since it may be visible already
	}
	restarts := 0 // calls that came to nothing, more than those of this turn
	for _, call := range k.model.Calls() {
		if k.chatOf(call.Turn) == c && !strings.Contains(answered, "re: "+strings.Join(call.Turn, " ")+" .") {
			restarts++
		}
	}
	restarts-- // the one that is being sent
	for m := range k.owed[c] {
		if !strings.Contains(text, m) && !strings.Contains(answered, m) && restarts < k.config.MaxRestarts {
			k.t.Errorf("I3: a reply of %v ignores %s: %q", c, m, text)
		}
	}
}

// checkStored is I5, of the store: whoever waits has somebody who will look.
func (k *walker) checkStored() {
	err := k.store.View(func(tx conversation.Tx) error {
		for _, c := range k.chats {
			rec, _, err := tx.Conversation(c)
			if err != nil {
				return err
			}
			messages, err := tx.Messages(c)
			if err != nil {
				return err
			}
			timer, _ := tx.Timer(c)
			lease, _ := tx.Lease(c)
			outbox, _ := tx.Outbox(c)
			waits := slices.ContainsFunc(messages, func(m conversation.Message) bool { return m.Version > rec.Answered })
			if waits && rec.Rest == "" && !timer.Set() && !lease.Held() && len(outbox) == 0 {
				k.t.Errorf("I5: %v waits and nobody will look", c)
			}
		}
		return nil
	})
	if err != nil {
		k.t.Error(err)
	}
}

// checkAnswered is I1, when all is quiet.
func (k *walker) checkAnswered() {
	for _, c := range k.chats {
		shown := strings.Join(k.replies(c), " ") + k.unsure(c)
		for m := range k.owed[c] {
			if !strings.Contains(shown, m) {
				k.t.Errorf("I1: %s of %v was never answered: %q", m, c, k.channel.Texts(c))
			}
		}
	}
}

// unsure lists what the history says may not have arrived, which a notice told.
func (k *walker) unsure(c conversation.Key) (texts string) {
	err := k.store.View(func(tx conversation.Tx) error {
		for turn, err := range tx.History(c) {
			if err != nil {
				return err
			}
			if len(turn.Missing) > 0 {
				texts += turn.Reply
			}
		}
		return nil
	})
	if err != nil {
		k.t.Error(err)
	}
	return texts
}
