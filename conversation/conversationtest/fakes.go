// Package conversationtest holds what tests of conversations need: a model and
// a channel that do what they are told, and the suite that every store must
// pass.
package conversationtest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lastword/conversation"
)

// Model answers "re: " and the marks of the turn, which are the words of its
// last message that begin with '#'. Zero answers at once.
type Model struct {
	Delay time.Duration // before the answer
	// Answer, if set, replaces the answer of the n-th call, from 1.
	Answer func(ctx context.Context, n int, prompt []conversation.PromptMessage) (conversation.Completion, error)

	// Write, if set, does so with the progress of the text.
	Write func(ctx context.Context, n int, prompt []conversation.PromptMessage, progress func(string)) (conversation.Completion, error)

	mu    sync.Mutex
	calls []Call
}

// Call is one call that the model got.
type Call struct {
	Prompt    []conversation.PromptMessage
	Turn      []string // marks of the last message
	Start     time.Time
	End       time.Time // zero while it is in flight
	Cancelled bool
}

// Marks lists the words of a text that begin with '#'.
func Marks(text string) []string {
	var out []string
	for _, w := range strings.Fields(text) {
		if strings.HasPrefix(w, "#") && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// Generate implements [conversation.Model].
func (m *Model) Generate(ctx context.Context, prompt []conversation.PromptMessage, progress func(string)) (conversation.Completion, error) {
	turn := Marks(prompt[len(prompt)-1].Text)
	m.mu.Lock()
	m.calls = append(m.calls, Call{Prompt: prompt, Turn: turn, Start: time.Now()})
	n := len(m.calls)
	m.mu.Unlock()
	done, err := m.answer(ctx, n, prompt, turn, progress)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls[n-1].End = time.Now()
	m.calls[n-1].Cancelled = ctx.Err() != nil
	return done, err
}

func (m *Model) answer(ctx context.Context, n int, prompt []conversation.PromptMessage, turn []string, progress func(string)) (conversation.Completion, error) {
	if m.Write != nil {
		return m.Write(ctx, n, prompt, progress)
	}
	if m.Answer != nil {
		return m.Answer(ctx, n, prompt)
	}
	if err := Sleep(ctx, m.Delay); err != nil {
		return conversation.Completion{}, err
	}
	return conversation.Completion{Text: "re: " + strings.Join(turn, " "), Tokens: conversation.Tokens{Prompt: 10, Completion: 2}}, nil
}

// Sleep waits, or returns the error of a context that ends before.
func Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Calls returns copies of the calls so far.
func (m *Model) Calls() []Call {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.calls)
}

// Channel is a messenger with one sequence of message ids for all its chats.
// Zero shows everything at once.
type Channel struct {
	PartSize int // longest part in bytes; 0 for no limit
	// Fault, if set, decides what becomes of the n-th send, from 1.
	Fault func(n int, to conversation.Key, text string) Fault
	// Blank, if set, tells which texts show nothing.
	Blank func(text string) bool
	// Frame, if set, is called before a preview is shown.
	Frame func(ctx context.Context, to conversation.Key, text string) error

	mu     sync.Mutex
	ids    int64
	sends  int
	shown  []Shown
	told   []Told
	own    map[int64]bool // messages whose id the bot knows, or is about to
	frames []Frame
	typing int
}

// Frame is one preview that was shown.
type Frame struct {
	Key  conversation.Key
	ID   conversation.Generation
	Text string
	At   time.Time
}

// Fault is what goes wrong with a send.
type Fault struct {
	Before time.Duration           // passes before it takes effect
	After  time.Duration           // passes between its effect and its answer
	Err    *conversation.SendError // what it returns
	Landed bool                    // it took effect all the same
}

// Shown is a visible message, of the bot or of a user.
type Shown struct {
	ID     int64
	Key    conversation.Key
	User   bool
	Text   string
	Target conversation.Source
	At     time.Time

	Buttons []conversation.Button
}

// Told is what somebody was told who pressed a button.
type Told struct {
	Query string
	Code  conversation.NoticeCode
}

// Next takes the next message id, for a message of a user.
func (c *Channel) Next(k conversation.Key, text string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.show(Shown{Key: k, User: true, Text: text})
}

func (c *Channel) show(s Shown) int64 {
	c.ids++
	s.ID, s.At = c.ids, time.Now()
	c.shown = append(c.shown, s)
	return s.ID
}

func (c *Channel) replace(part conversation.Part) {
	i := slices.IndexFunc(c.shown, func(s Shown) bool { return s.ID == part.Replaces })
	switch {
	case i < 0:
	case part.Text == "":
		c.shown = slices.Delete(c.shown, i, i+1)
	default:
		c.shown[i].Text, c.shown[i].Buttons = part.Text, part.Buttons
	}
}

// Shown returns copies of the visible messages, in order.
func (c *Channel) Shown() []Shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.shown)
}

// Texts lists what the bot has shown in a chat.
func (c *Channel) Texts(k conversation.Key) []string {
	var out []string
	for _, s := range c.Shown() {
		if s.Key == k && !s.User {
			out = append(out, s.Text)
		}
	}
	return out
}

// Compose implements [conversation.Channel].
func (c *Channel) Compose(text string) []conversation.Part {
	if c.Blank != nil && c.Blank(text) {
		return nil
	}
	var parts []conversation.Part
	for c.PartSize > 0 && len(text) > c.PartSize {
		parts = append(parts, conversation.Part{Text: text[:c.PartSize]})
		text = text[c.PartSize:]
	}
	return append(parts, conversation.Part{Text: text})
}

// Word implements [conversation.Channel]: the code, and the text or the id. A
// button is labelled with what it does.
func (c *Channel) Word(n conversation.Notice) conversation.Part {
	p := conversation.Part{Text: strings.TrimSpace(fmt.Sprintf("(%s) %s%s", n.Code, n.Text, n.ID))}
	if n.Press != nil {
		p.Buttons = []conversation.Button{{Press: *n.Press, Label: string(n.Press.Do)}}
	}
	return p
}

// Send implements [conversation.Channel].
func (c *Channel) Send(ctx context.Context, to conversation.Key, part conversation.Part, target conversation.Source) (int64, error) {
	c.mu.Lock()
	c.sends++
	n := c.sends
	if c.own == nil {
		c.own = map[int64]bool{}
	}
	c.mu.Unlock()
	var f Fault
	if c.Fault != nil {
		f = c.Fault(n, to, part.Text)
	}
	if f.Before > 0 {
		if err := Sleep(ctx, f.Before); err != nil {
			return 0, &conversation.SendError{Kind: conversation.InDoubt, Err: err}
		}
	}
	var id int64
	if f.Err == nil || f.Landed {
		c.mu.Lock()
		id = part.Replaces
		if id != 0 {
			c.replace(part)
		} else {
			id = c.show(Shown{Key: to, Text: part.Text, Target: target, Buttons: part.Buttons})
			c.own[id] = true
		}
		c.mu.Unlock()
	}
	if err := Sleep(ctx, f.After); err != nil {
		c.forget(id)
		return 0, &conversation.SendError{Kind: conversation.InDoubt, Err: err}
	}
	if f.Err != nil {
		c.forget(id)
		return 0, f.Err
	}
	return id, nil
}

// Restart forgets what is only in the memory of the bot's process.
func (c *Channel) Restart() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.own = map[int64]bool{}
}

// forget makes a message one whose id the bot does not know.
func (c *Channel) forget(id int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.own, id)
}

// Preview implements [conversation.Channel].
func (c *Channel) Preview(ctx context.Context, to conversation.Key, id conversation.Generation, text string) error {
	if c.Frame != nil {
		if err := c.Frame(ctx, to, text); err != nil {
			return err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames = append(c.frames, Frame{Key: to, ID: id, Text: text, At: time.Now()})
	return nil
}

// Frames returns copies of the previews that were shown.
func (c *Channel) Frames() []Frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.frames)
}

// Typing implements [conversation.Channel].
func (c *Channel) Typing(context.Context, conversation.Key) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.typing++
	return nil
}

// Unbutton implements [conversation.Channel].
func (c *Channel) Unbutton(_ context.Context, _ conversation.Key, id int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.shown {
		if c.shown[i].ID == id {
			c.shown[i].Buttons = nil
		}
	}
	return nil
}

// Answer implements [conversation.Channel].
func (c *Channel) Answer(_ context.Context, query string, n conversation.Notice) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, Told{query, n.Code})
	return nil
}

// Told lists what was told to those who pressed buttons.
func (c *Channel) Told() []Told {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.told)
}

// Probe implements [conversation.Channel] as Telegram makes it possible: the
// buttons tell a message from any other. Without any, an edit to the same text
// tells it from others without: those get the text instead, and are removed if
// the part is found beside them. Messages whose id the bot knows are left
// alone.
func (c *Channel) Probe(_ context.Context, to conversation.Key, part conversation.Part, candidates []int64, stale bool) (met conversation.Probed, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	same := -1
	for i := range c.shown {
		s := &c.shown[i]
		switch {
		case s.Key != to || s.User || c.own[s.ID] || !slices.Contains(candidates, s.ID):
		case len(part.Buttons) > 0 && slices.Equal(s.Buttons, part.Buttons):
			met.Can = []int64{s.ID}
			return met, nil
		case len(part.Buttons) > 0 || len(s.Buttons) > 0:
			s.Buttons = nil
			met.Others = append(met.Others, s.ID)
		default:
			if s.Text == part.Text {
				same = len(met.Can)
			}
			met.Can = append(met.Can, s.ID)
		}
	}
	if stale || len(met.Can) == 0 {
		return met, nil
	}
	id := met.Can[max(same, 0)]
	c.shown = slices.DeleteFunc(c.shown, func(s Shown) bool { return s.ID != id && slices.Contains(met.Can, s.ID) })
	c.replace(conversation.Part{Text: part.Text, Replaces: id})
	met.Can = []int64{id}
	return met, nil
}

// Sequence implements [conversation.Channel].
func (c *Channel) Sequence(int64) int64 { return 0 }
