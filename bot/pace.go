package bot

import (
	"context"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"
)

// Telegram's limits (Bots FAQ): about one message a second in a chat, 20 a
// minute in a group, 30 a second over all. Those of one chat are kept with some
// distance: whoever exceeds them waits for much longer.
const (
	chatEvery = time.Second
	chatBurst = 3

	groupEvery = 4 * time.Second // with the burst: never more than 20 within a minute
	groupBurst = 5

	allPerSecond = 30
	allBurst     = 35 // Telegram says "about"; sixty people who ask at once wait less than a second

	shortWait = 50 * time.Millisecond // waited for; longer ones are handed to the caller
	slotKept  = time.Minute           // how long a reserved slot waits for its sender
	idleChat  = 10 * time.Minute      // after which a chat is forgotten
	sweepGap  = time.Minute
)

// pace hands out the slots in which messages may be sent, and knows which
// chats Telegram asked to leave alone.
type pace struct {
	mu    sync.Mutex
	all   *rate.Limiter
	chats map[int64]*chatPace
	swept time.Time
}

type chatPace struct {
	used   time.Time
	single *rate.Limiter
	minute *rate.Limiter // of groups
	slot   time.Time     // reserved for the next send, zero if none is
	flood  time.Time     // until when nothing may be sent
	quiet  time.Time     // until when no typing may be shown
	drafts time.Time     // until when no draft may be shown
	gate   *semaphore.Weighted
	sent   []int64 // newest messages of the bot: a probe must not meet them
}

// mostSent is how many messages of its own the bot remembers in a chat. A look
// is about the newest.
const mostSent = 20

func newPace() *pace {
	return &pace{all: rate.NewLimiter(allPerSecond, allBurst), chats: map[int64]*chatPace{}}
}

// chat returns the record of a chat; p.mu is held. Idle ones are forgotten
// here, so that memory follows the chats that are busy.
func (p *pace) chat(id int64, now time.Time) *chatPace {
	if now.Sub(p.swept) >= sweepGap {
		p.swept = now
		for i, c := range p.chats {
			if now.Sub(c.used) > idleChat && now.After(c.flood) && now.After(c.quiet) && now.After(c.drafts) && now.After(c.slot) && c.gate.TryAcquire(exclusive) {
				delete(p.chats, i)
			}
		}
	}
	c := p.chats[id]
	if c == nil {
		c = &chatPace{single: rate.NewLimiter(rate.Every(chatEvery), chatBurst), gate: semaphore.NewWeighted(exclusive)}
		if id < 0 {
			c.minute = rate.NewLimiter(rate.Every(groupEvery), groupBurst)
		}
		p.chats[id] = c
	}
	c.used = now
	return c
}

// wait says how long a send to a chat has to wait; up to zero means that it
// has its slot. A slot that lies ahead stays reserved: the next send after its
// time has it.
func (p *pace) wait(id int64) time.Duration {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chat(id, now)
	if d := c.flood.Sub(now); d > 0 {
		return d
	}
	if !c.slot.IsZero() && now.Sub(c.slot) <= slotKept {
		d := c.slot.Sub(now)
		if d <= shortWait {
			c.slot = time.Time{}
		}
		return d
	}
	d := p.all.ReserveN(now, 1).DelayFrom(now)
	d = max(d, c.single.ReserveN(now, 1).DelayFrom(now))
	if c.minute != nil {
		d = max(d, c.minute.ReserveN(now, 1).DelayFrom(now))
	}
	c.slot = time.Time{}
	if d > shortWait {
		c.slot = now.Add(d)
	}
	return d
}

// flooded notes that Telegram wants no messages in a chat for a time.
func (p *pace) flooded(id int64, d time.Duration) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if c := p.chat(id, now); c.flood.Before(now.Add(d)) {
		c.flood = now.Add(d)
	}
}

// hush notes that Telegram wants no chat actions in a chat for a time.
func (p *pace) hush(id int64, d time.Duration) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chat(id, now).quiet = now.Add(d)
}

// hushDrafts notes that Telegram wants no drafts in a chat for a time.
func (p *pace) hushDrafts(id int64, d time.Duration) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.chat(id, now).drafts = now.Add(d)
}

// draftsQuiet reports whether a chat is to be left alone with drafts.
func (p *pace) draftsQuiet(id int64) bool {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chats[id]
	return c != nil && (now.Before(c.drafts) || now.Before(c.flood))
}

// shown notes a message of the bot. It comes before the gate is left.
func (p *pace) shown(id, message int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chat(id, time.Now())
	c.sent = append(c.sent, message)
	c.sent = c.sent[max(0, len(c.sent)-mostSent):]
}

// unknown drops from ids those of messages of the bot that are known.
func (p *pace) unknown(id int64, ids []int64) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chat(id, time.Now())
	return slices.DeleteFunc(slices.Clone(ids), func(m int64) bool { return slices.Contains(c.sent, m) })
}

// left is for how much longer a chat is to be left alone, with messages or
// with chat actions.
func (p *pace) left(id int64) (messages, actions time.Duration) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.chats[id]
	if c == nil {
		return 0, 0
	}
	return c.flood.Sub(now), max(c.quiet.Sub(now), c.flood.Sub(now))
}

// exclusive is the whole of a chat's gate. A send takes one; a probe takes all,
// because it must not meet a message that is just appearing.
const (
	shared    = 1
	exclusive = 1 << 30
)

// enter waits until a chat can be written to, and returns what ends that.
func (p *pace) enter(ctx context.Context, id int64, weight int64) (leave func(), err error) {
	p.mu.Lock()
	c := p.chat(id, time.Now())
	p.mu.Unlock()
	if err := c.gate.Acquire(ctx, weight); err != nil {
		return nil, err
	}
	return func() { c.gate.Release(weight) }, nil
}
