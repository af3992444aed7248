package conversation

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// Engine owns every conversation of one bot identity. One loop takes the events
// that have queued up, applies the rules to them in one transaction, and starts
// their effects once that is on disk.
type Engine struct {
	rules    Rules
	store    Store
	model    Model
	channel  Channel
	identity string
	log      *slog.Logger
	token    func() string // random, for incarnations and the owner of leases

	inbox  chan request
	beats  chan struct{} // see Beat
	closed chan struct{} // when the loop has ended
	group  sync.WaitGroup

	// The loop's own; effects may read what Run has set before it began.
	zero    time.Time                     // when the process began: see now
	runCtx  context.Context               // ends when the engine is to stop
	sendCtx context.Context               // goes on a while after that
	due     *agenda                       // when to look at which conversation
	highest map[int64]int64               // highest message id known, by sequence
	proofs  map[int64]proof               // newest send that came back with an id, by sequence
	calls   map[string]call               // model calls in flight, by incarnation
	sends   map[sendID]context.CancelFunc // sends in flight
	queue   queue                         // conversations that wait for a place for theirs
	flying  int                           // effects that will come back
	retry   []request                     // events that wait for space on the disk
	full    bool                          // said so in the log
	pruned  time.Time                     // when what is old was last forgotten
}

// Options are what an engine is made of.
type Options struct {
	Config   Config
	Limits   Limits
	Identity string // of the bot, see [Key.Identity]
	Store    Store
	Model    Model
	Channel  Channel
	Log      *slog.Logger
	Token    func() string // random; nil for one that is
}

// New makes an engine. It does nothing until Run.
func New(o Options) *Engine {
	e := &Engine{
		store: o.Store, model: o.Model, channel: o.Channel, identity: o.Identity, log: o.Log, token: o.Token,
		inbox: make(chan request), beats: make(chan struct{}), closed: make(chan struct{}),
		highest: map[int64]int64{}, proofs: map[int64]proof{}, calls: map[string]call{}, sends: map[sendID]context.CancelFunc{}, due: newAgenda(),
	}
	if e.token == nil {
		e.token = randomToken
	}
	e.rules = Rules{Config: o.Config, Limits: o.Limits, Owner: e.token()}
	return e
}

func randomToken() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // never fails, see crypto/rand
	return hex.EncodeToString(b)
}

// request is what the loop is asked to do in its next transaction: a batch of
// a channel, or one event of the engine's own.
type request struct {
	batch *Batch
	key   Key
	event Event
	flown bool       // it comes from an effect
	done  chan error // of a batch; buffered
}

// now is the time that the rules see and the store keeps. It is a wall clock
// that does not jump: it goes on from the start of the process by the
// monotonic clock, so that a wall clock which is set back holds nobody.
func (e *Engine) now() time.Time { return e.zero.Add(time.Since(e.zero)) }

// errEnded is what Receive says when nobody will store anything any more.
var errEnded = errors.New("the engine has ended")

// Receive stores a batch. When it returns nil the batch is on disk and the
// channel may confirm it; otherwise nothing of it is stored, and the channel
// should bring it again after a while.
func (e *Engine) Receive(ctx context.Context, b Batch) error {
	r := request{batch: &b, done: make(chan error, 1)}
	select {
	case e.inbox <- r:
	case <-e.closed:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-r.done:
		return err
	case <-e.closed:
		return errEnded
	}
}

const (
	sendGrace   = 7 * time.Second        // how long an ending engine waits for sends in flight
	fullPause   = 500 * time.Millisecond // between tries to write to a full disk
	mostAtOnce  = 256                    // requests in one transaction
	pruneEvery  = time.Hour
	journalKept = 30 * 24 * time.Hour
	seenKept    = 2 * 24 * time.Hour // Telegram keeps updates for one day
)

// Run takes up what the process before has left and works until ctx ends. Then
// it cancels the model calls, whose turns stay due, waits for parts that are on
// their way, and returns nil. It returns an error if the store is broken.
func (e *Engine) Run(ctx context.Context) error {
	defer e.group.Wait()
	defer close(e.closed)
	runCtx, cancelRun := context.WithCancel(ctx)
	defer cancelRun()
	sendCtx, cancelSends := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelSends()
	e.zero, e.runCtx, e.sendCtx = time.Now(), runCtx, sendCtx
	if err := e.takeUp(); err != nil {
		return err
	}
	for {
		requests, ok := e.gather()
		if !ok {
			return e.stop()
		}
		if err := e.commit(requests); err != nil {
			return err
		}
	}
}

// takeUp begins with whatever a process before has left unfinished.
func (e *Engine) takeUp() error {
	keys := map[Key]bool{}
	err := e.store.View(func(tx Tx) error {
		for _, records := range []iter.Seq2[Key, error]{tx.Timers(e.identity), tx.Leases(e.identity), tx.Outboxes(e.identity)} {
			for k, err := range records {
				if err != nil {
					e.log.Error("a record is left alone: it belongs to no conversation", "err", err)
					continue
				}
				keys[k] = true
			}
		}
		for s, err := range tx.Sightings(e.identity) {
			if err != nil {
				return err
			}
			seq := e.channel.Sequence(s.Chat)
			e.highest[seq] = max(e.highest[seq], s.ID)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var requests []request
	for k := range keys {
		requests = append(requests, request{key: k, event: Recovered{}})
	}
	for chunk := range slices.Chunk(requests, mostAtOnce) {
		if err := e.commit(chunk); err != nil {
			return err
		}
	}
	return nil
}

// stop lets what is in flight come back, and starts nothing. Model calls end
// with the context of Run.
func (e *Engine) stop() error {
	e.rules.Stopping = true
	grace := time.After(sendGrace)
	for e.flying > 0 {
		select {
		case r := <-e.inbox:
			e.received(r)
			if r.batch != nil {
				r.done <- errEnded
				continue
			}
			e.retry = append(e.retry, r)
			if err := e.commitKept(); err != nil {
				return err
			}
		case <-grace:
			e.log.Warn("a message was still on its way when the time to stop was over; the next start will look for it")
			return e.commitKept()
		}
	}
	return e.commitKept()
}

// commitKept applies what waited for space on the disk.
func (e *Engine) commitKept() error {
	kept := e.retry
	e.retry = nil
	if len(kept) == 0 {
		return nil
	}
	return e.commit(kept)
}

// received takes note of what has come back.
func (e *Engine) received(r request) {
	if r.flown {
		e.flying--
	}
	if d, ok := r.event.(Delivered); ok {
		delete(e.sends, sendID{d.Incarnation, d.Reply, d.Index})
	}
}

// gather blocks until there is something to do and takes all that is there. It
// returns false when the engine is to stop.
func (e *Engine) gather() ([]request, bool) {
	requests, ok := e.wait()
	if !ok {
		return nil, false
	}
	requests = append(e.retry, requests...)
	e.retry = nil
	for len(requests) < mostAtOnce {
		select {
		case r := <-e.inbox:
			e.received(r)
			requests = append(requests, r)
			continue
		default:
		}
		break
	}
	for _, k := range e.due.past(e.now(), mostAtOnce) {
		requests = append(requests, request{key: k, event: Due{}})
	}
	return requests, true
}

// alarm rings when the loop has to turn even if nothing comes in.
func (e *Engine) alarm() *time.Timer {
	wait := pruneEvery
	if next := e.due.next(); !next.IsZero() {
		wait = min(wait, next.Sub(e.now()))
	}
	if len(e.retry) > 0 {
		wait = fullPause
	}
	return time.NewTimer(max(wait, 0))
}

// commit applies requests in one transaction and then starts their effects. A
// full disk refuses the batches and keeps the rest for later: nothing is done
// that is not written down first.
func (e *Engine) commit(requests []request) error {
	u := e.newUnit()
	err := e.store.Update(func(tx Tx) error { return u.apply(tx, requests) })
	switch {
	case errors.Is(err, ErrBroken):
		return err
	case errors.Is(err, ErrFull):
		e.keep(requests, err)
		return nil
	case err != nil:
		return e.isolate(requests, err)
	}
	if e.full {
		e.full = false
		e.log.Info("storing works again")
	}
	for _, r := range requests {
		if r.batch != nil {
			r.done <- nil
		}
		if g, ok := r.event.(Generated); ok && e.calls[g.Work.Incarnation].epoch == g.Work.Epoch {
			delete(e.calls, g.Work.Incarnation)
		}
	}
	e.follow(u)
	return nil
}

// follow does what a committed transaction has led to.
func (e *Engine) follow(u *unit) {
	maps.Copy(e.highest, u.highest)
	maps.Copy(e.proofs, u.proofs)
	if !u.pruned.IsZero() {
		e.pruned = u.pruned
	}
	for _, s := range u.effects {
		e.begin(s.key, s.effect)
	}
	now := e.now()
	e.rules.Crowded = e.places() <= 0
	for _, l := range u.order {
		if e.rules.Queues(&l.new, now) {
			e.queue.push(l.new.Key)
		}
		e.due.set(l.new.Key, e.rules.Next(&l.new, now))
	}
	for range min(e.places(), e.queue.len()) {
		e.due.set(e.queue.pop(), now)
	}
}

// places is how many more model calls may be in flight.
func (e *Engine) places() int {
	if e.rules.Concurrent == 0 {
		return math.MaxInt32
	}
	return e.rules.Concurrent - len(e.calls)
}

// keep is what happens instead when nothing could be written.
func (e *Engine) keep(requests []request, err error) {
	if !e.full {
		e.full = true
		e.log.Error("nothing can be stored; until that is over, messages are not confirmed and nothing is sent", "err", err)
	}
	for _, r := range requests {
		if r.batch != nil {
			r.done <- fmt.Errorf("storing a batch: %w", err)
		} else {
			e.retry = append(e.retry, r)
		}
	}
}

// isolate applies requests one by one after one of them could not be written:
// that one costs only itself.
func (e *Engine) isolate(requests []request, why error) error {
	if len(requests) > 1 {
		for _, r := range requests {
			if err := e.commit([]request{r}); err != nil {
				return err
			}
		}
		return nil
	}
	r := requests[0]
	if r.batch == nil || len(r.batch.Arrivals) == 0 {
		e.log.Error("an event was dropped: it cannot be written", "event", fmt.Sprintf("%T", r.event), "err", why)
		if r.batch != nil {
			r.done <- fmt.Errorf("storing a batch: %w", why)
		}
		return nil
	}
	single := len(r.batch.Arrivals) == 1
	for _, a := range r.batch.Arrivals {
		b := Batch{Identity: r.batch.Identity, Offset: r.batch.Offset, Arrivals: []Arrival{a}}
		if single {
			e.log.Error("an update was dropped: it cannot be written", "update", a.Update, "err", why)
			b.Arrivals = nil
		}
		done := make(chan error, 1)
		if err := e.commit([]request{{batch: &b, done: done}}); err != nil {
			return err
		}
		if err := <-done; err != nil {
			r.done <- err
			return nil //nolint:nilerr // the channel gets it
		}
	}
	r.done <- nil
	return nil
}
