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
		c.shown[i].Text = part.Text
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

// Word implements [conversation.Channel]: the code, and the text or the id.
func (c *Channel) Word(n conversation.Notice) conversation.Part {
	return conversation.Part{Text: strings.TrimSpace(fmt.Sprintf("(%s) %s%s", n.Code, n.Text, n.ID))}
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
			id = c.show(Shown{Key: to, Text: part.Text, Target: target})
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

// Probe implements [conversation.Channel] as an edit to the same text does it:
// another message of the bot gets the text instead, and is removed if the part
// is found beside it. Like the real one it leaves messages alone whose id the
// bot knows.
func (c *Channel) Probe(_ context.Context, to conversation.Key, part conversation.Part, candidates []int64, stale bool) (int64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found int64
	var overwritten []int64
	for i := range c.shown {
		s := &c.shown[i]
		switch {
		case s.Key != to || s.User || c.own[s.ID] || !slices.Contains(candidates, s.ID):
		case s.Text == part.Text:
			found = s.ID
		case stale:
			return 0, conversation.ErrInTheWay
		default:
			s.Text = part.Text
			overwritten = append(overwritten, s.ID)
		}
	}
	if found == 0 && len(overwritten) > 0 {
		found, overwritten = overwritten[0], overwritten[1:]
	}
	c.shown = slices.DeleteFunc(c.shown, func(s Shown) bool { return slices.Contains(overwritten, s.ID) })
	return found, nil
}

// Sequence implements [conversation.Channel].
func (c *Channel) Sequence(int64) int64 { return 0 }
