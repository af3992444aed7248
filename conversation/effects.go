package conversation

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"time"
)

// call is a model call in flight.
type call struct {
	epoch  uint64
	cancel context.CancelFunc
}

// sendID names a send in flight.
type sendID struct {
	incarnation string
	reply       uint64
	index       int
}

// begin starts the effects of a commit. Each runs in a goroutine of its own and
// comes back as an event; none of them changes a record.
func (e *Engine) begin(k Key, effect Effect) {
	switch f := effect.(type) {
	case Cancel:
		if c := e.calls[f.Incarnation]; c.epoch == f.Epoch && c.cancel != nil {
			c.cancel()
		}
	case Generate:
		ctx, cancel := context.WithCancel(e.runCtx)
		e.calls[f.State.Incarnation] = call{f.Work.Epoch, cancel}
		e.launch(k, func() Event {
			defer cancel()
			return e.generate(ctx, k, f)
		})
	case Send:
		ctx, cancel := context.WithCancel(e.sendCtx)
		e.sends[sendID{f.Incarnation, f.Reply, f.Index}] = cancel
		e.launch(k, func() Event {
			defer cancel()
			return e.send(ctx, k, f)
		})
	case Abort:
		if cancel := e.sends[sendID{f.Incarnation, f.Reply, f.Index}]; cancel != nil {
			cancel()
		}
	case Answer:
		e.fire(func(ctx context.Context) error { return e.channel.Answer(ctx, f.Query, f.Notice) }, k, "answer a press")
	case Unbutton:
		e.fire(func(ctx context.Context) error { return e.channel.Unbutton(ctx, k, f.Message) }, k, "take buttons away")
	case Remove:
		e.fire(func(ctx context.Context) error {
			_, err := e.channel.Send(ctx, k, Part{Replaces: f.Message}, Source{})
			return err
		}, k, "remove a notice")
	case Look:
		f.Proof = e.proofs[e.channel.Sequence(k.Chat)]
		e.launch(k, func() Event { return e.look(k, f) })
	}
}

// launch runs slow work and brings its event back to the loop.
func (e *Engine) launch(k Key, work func() Event) {
	e.flying++
	e.group.Go(func() {
		r := request{key: k, event: work(), flown: true}
		select {
		case e.inbox <- r:
		case <-e.closed:
		}
	})
}

// fire runs what nothing depends on: a press that is not answered stops waiting
// by itself, and a button that stays tells that it is not current.
func (e *Engine) fire(work func(context.Context) error, k Key, what string) {
	ctx := e.sendCtx
	e.group.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, firePatience)
		defer cancel()
		if err := work(ctx); err != nil && ctx.Err() == nil {
			e.log.Debug("something small could not be done", "what", what, "chat", k.Chat, "err", err)
		}
	})
}

// firePatience bounds what nothing depends on.
const firePatience = 15 * time.Second

// generate asks the model, with less and less history if it does not fit.
func (e *Engine) generate(ctx context.Context, k Key, g Generate) (result Generated) {
	start := time.Now()
	result.Work = g.Work
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("a turn panicked", "chat", k.Chat, "err", fmt.Errorf("%v\n%s", p, debug.Stack()))
			result = Generated{Work: g.Work, Err: errors.New("panic")}
		}
		result.Meter.Started = start
		result.Meter.Took = time.Since(start)
	}()
	work, cancel := context.WithCancel(ctx)
	defer cancel() // before the result is seen: no typing after it
	e.group.Go(func() { e.typing(work, k) })
	p := e.startPreview(work, k, g.Work)
	err := func() error {
		defer p.close() // nor a preview
		return e.ask(work, k, g, &result, p.write)
	}()
	if err != nil && ctx.Err() == nil {
		e.log.Warn("a model call failed", "chat", k.Chat, "generation", g.Work.Generation, "err", err)
	}
	if text := p.written(); err != nil && ctx.Err() != nil && strings.TrimSpace(text) != "" {
		result.Text = text + "\n\n" + e.channel.Word(Notice{Code: Halted, Language: g.State.Language}).Text
		result.Parts = e.channel.Compose(result.Text)
	}
	result.Err = err
	return result
}

// ask makes the call, and makes it again with less history if the prompt does
// not fit the model.
func (e *Engine) ask(ctx context.Context, k Key, g Generate, result *Generated, progress func(string)) error {
	for budget := e.budget(&g.State); ; {
		p, err := e.prompt(&g, k, budget)
		if err != nil {
			return err
		}
		done, err := e.model.Generate(ctx, p.messages, progress)
		var why *ModelError
		if errors.As(err, &why) && why.Kind == ContextTooBig && p.turns > 0 {
			e.log.Info("the prompt is too long for the model; trying with less history", "chat", k.Chat, "turns", p.turns)
			budget = min(budget, p.estimate) / 2
			result.Budget = budget
			continue
		}
		if err != nil {
			return err
		}
		parts := e.channel.Compose(done.Text)
		if len(parts) == 0 {
			return &ModelError{Kind: Temporary, Err: errors.New("nothing of the answer can be seen")}
		}
		result.Text, result.Estimate, result.Parts = done.Text, p.estimate, parts
		result.Meter = Meter{Tokens: done.Tokens, FirstToken: done.FirstToken}
		return nil
	}
}

// budget is how many estimated tokens a prompt may have.
func (e *Engine) budget(s *State) int {
	limit := e.rules.ContextTokens
	if s.Budget > 0 {
		limit = min(limit, s.Budget)
	}
	if s.Ratio > 0 {
		// In steps of a fifth, so that the beginning of the prompt stands still.
		limit = int(float64(limit) / (math.Ceil(s.Ratio*5) / 5))
	}
	return limit
}

func (e *Engine) prompt(g *Generate, k Key, budget int) (p prompt, err error) {
	err = e.store.View(func(tx Tx) error {
		c, _, err := tx.Conversation(k)
		if err == nil && c.MovedTo != nil {
			k = *c.MovedTo
		}
		if err != nil {
			return err
		}
		turn := Turn{Messages: g.Turn}
		if g.Work.Revises != 0 {
			turn, _, err = tx.Turn(k, g.Work.Revises)
			if err != nil {
				return err
			}
		}
		if !g.Work.Again {
			turn.Reply = ""
		}
		p, err = newPrompt(before(tx.History(k), g.Work.Revises), &g.State, turn, budget)
		return err
	})
	return p, err
}

// typing shows that the bot is at work until ctx ends.
func (e *Engine) typing(ctx context.Context, k Key) {
	for ctx.Err() == nil {
		if err := e.channel.Typing(ctx, k); err != nil && ctx.Err() == nil {
			e.log.Debug("the typing indicator could not be shown", "chat", k.Chat, "err", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(TypingInterval):
		}
	}
}

// send shows a part. Its context outlives the engine's own for a while: a part
// that is on its way is waited for.
func (e *Engine) send(ctx context.Context, k Key, s Send) (result Delivered) {
	result = Delivered{Incarnation: s.Incarnation, Reply: s.Reply, Index: s.Index, Begun: e.now()}
	defer func() {
		if p := recover(); p != nil {
			e.log.Error("a send panicked", "chat", k.Chat, "err", fmt.Errorf("%v\n%s", p, debug.Stack()))
			result.Err = &SendError{Kind: InDoubt, Err: errors.New("panic")}
		}
	}()
	part := s.Part
	if s.Notice != nil {
		part = e.channel.Word(e.fill(k, *s.Notice))
	}
	id, err := e.channel.Send(ctx, k, part, s.Target)
	result.Receipt = id
	if err == nil {
		e.log.Debug("a part is visible", "chat", k.Chat, "part", s.Index, "took", e.now().Sub(result.Begun))
		return result
	}
	result.Err = &SendError{Kind: InDoubt, Err: err}
	errors.As(err, &result.Err)
	if result.Err.Kind == Later {
		e.log.Debug("a part has to wait", "chat", k.Chat, "wait", result.Err.After)
	} else {
		e.log.Warn("a part was not sent for certain", "chat", k.Chat, "part", s.Index, "err", err)
	}
	return result
}

// statusEntries is how many generations a status lists.
const statusEntries = 5

// fill looks up what a status report tells, when it is sent.
func (e *Engine) fill(k Key, n Notice) Notice {
	if n.Code != StatusReport {
		return n
	}
	st := Status{}
	err := e.store.View(func(tx Tx) error {
		s, _, err := readState(tx, k)
		if err != nil {
			return err
		}
		st = Status{Version: s.Version, Waiting: len(s.Waiting()), Working: s.Lease.Held(), Tokens: s.Tokens}
		for j, err := range tx.Journal(k) {
			if err != nil || len(st.Recent) == statusEntries {
				return err
			}
			st.Recent = append(st.Recent, j)
		}
		return nil
	})
	if err != nil {
		e.log.Error("a status could not be read", "chat", k.Chat, "err", err)
	}
	n.Status = &st
	return n
}

// mostCandidates bounds how many ids a look tries: each is a call.
const mostCandidates = 5

// settled is how long after a call of unknown outcome another send has to begin
// for its id to bound where that call's message could be: until then the
// service may still have been at work on it. Messages of people prove nothing:
// they may have been written long before the bot got to know of them.
const settled = time.Second

// look finds out whether a part is visible. Message ids only grow: it can only
// be above the highest id known before the call, and below the lowest known to
// be younger. What the bot knows of in between is not it.
func (e *Engine) look(k Key, l Look) Event {
	result := e.find(k, l)
	e.log.Debug("looked for a part of unknown outcome", "chat", k.Chat, "part", l.Index, "finding", result.Finding,
		"message", result.Receipt, "above", l.Part.Above, "proof", l.Proof.id)
	return result
}

func (e *Engine) find(k Key, l Look) Looked {
	result := Looked{Incarnation: l.Incarnation, Reply: l.Reply, Index: l.Index, Finding: NotLooked}
	candidates, closed, err := e.candidates(k, l)
	if err != nil {
		e.log.Error("a part of unknown outcome cannot be looked for", "chat", k.Chat, "err", err)
		return result
	}
	all := closed && len(candidates) <= mostCandidates
	candidates = candidates[:min(len(candidates), mostCandidates)]
	if len(candidates) > 0 {
		met, err := e.channel.Probe(e.sendCtx, k, l.Part, candidates, l.Stale)
		result.Others = met.Others
		switch {
		case err != nil:
			e.log.Warn("a part of unknown outcome could not be looked for", "chat", k.Chat, "err", err)
			return result
		case len(met.Can) > 1, len(met.Can) == 1 && l.Stale && !l.Alone && len(l.Part.Buttons) == 0:
			result.Finding = Unclear // it may be the part, or another message that nobody knows
			return result
		case len(met.Can) == 1:
			result.Finding, result.Receipt = Found, met.Can[0]
			return result
		}
	}
	result.Finding = Unclear
	if all {
		result.Finding = Absent
	}
	return result
}

// candidates lists the ids that the part could have, lowest first, and whether
// it could have no other.
func (e *Engine) candidates(k Key, l Look) (ids []int64, closed bool, err error) {
	seq := e.channel.Sequence(k.Chat)
	known := map[int64]bool{}
	top := l.Part.Above
	err = e.store.View(func(tx Tx) error {
		for s, err := range tx.Sightings(k.Identity()) {
			if err != nil {
				return err
			}
			if s.ID > l.Part.Above && e.channel.Sequence(s.Chat) == seq {
				known[s.ID] = true
				top = max(top, s.ID)
			}
		}
		return nil
	})
	closed = l.Proof.id > l.Part.Above && l.Proof.begun.Sub(l.Part.Since) >= settled
	end := l.Part.Above + mostCandidates
	if closed {
		end = l.Proof.id
	} else {
		end = max(end, top)
	}
	for id := l.Part.Above + 1; id <= end && len(ids) <= mostCandidates; id++ {
		if !known[id] {
			ids = append(ids, id)
		}
	}
	return ids, closed, err
}
