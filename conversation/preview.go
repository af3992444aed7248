package conversation

import (
	"context"
	"sync"
	"time"
)

const (
	previewEvery   = time.Second            // between two frames
	previewRefresh = 20 * time.Second       // a frame is hidden after 30 s (Bot API, sendMessageDraft)
	previewGrace   = 300 * time.Millisecond // how long the answer waits for a frame that is on its way
	unseenAfter    = 10 * time.Second       // of a call without previews, the chat is told how to stop it
)

// preview shows what a model has written so far. Frames are disposable: there
// is at most one on its way, it shows the newest text, and none is made up for.
type preview struct {
	engine *Engine
	key    Key
	work   Lease
	began  time.Time

	mu   sync.Mutex
	text string

	stop  chan struct{} // closed when no further frame is wanted
	ended chan struct{} // closed when none is on its way
}

// startPreview shows frames until the preview is closed.
func (e *Engine) startPreview(ctx context.Context, k Key, work Lease) *preview {
	p := &preview{engine: e, key: k, work: work, began: time.Now(), stop: make(chan struct{}), ended: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	e.group.Go(func() {
		defer close(p.ended)
		if work.Revises == 0 { // what is visible already is going to change
			p.run(ctx)
		}
		p.unseen()
	})
	e.group.Go(func() { // a frame that hangs must not hold the answer
		defer cancel()
		<-p.stop
		select {
		case <-p.ended:
		case <-time.After(previewGrace):
		}
	})
	return p
}

// write notes the text so far.
func (p *preview) write(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = text
}

// written is the text so far.
func (p *preview) written() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text
}

// close ends the preview and returns when no frame can follow any more: none is
// shown after the answer.
func (p *preview) close() {
	close(p.stop)
	<-p.ended
}

// run shows the first frame at once, without text. The first failure ends it:
// then the chat has no previews, for this turn.
func (p *preview) run(ctx context.Context) {
	shown, at := "", time.Now()
	for err := p.frame(ctx, ""); err == nil; {
		select {
		case <-p.stop:
			return
		case <-time.After(previewEvery):
		}
		if text := p.written(); text != shown || time.Since(at) >= previewRefresh {
			shown, at = text, time.Now()
			err = p.frame(ctx, text)
		}
	}
}

func (p *preview) frame(ctx context.Context, text string) error {
	err := p.engine.channel.Preview(ctx, p.key, p.work.Generation, text)
	if err != nil && ctx.Err() == nil {
		p.engine.log.Debug("no preview in this turn", "chat", p.key.Chat, "err", err)
	}
	return err
}

// unseen tells the engine, after a while, that nobody sees that the model is at
// work.
func (p *preview) unseen() {
	select {
	case <-p.stop:
		return
	case <-time.After(unseenAfter - time.Since(p.began)):
	}
	select {
	case <-p.stop: // over by now
		return
	default:
	}
	select {
	case p.engine.inbox <- request{key: p.key, event: Unseen{p.work}}:
	case <-p.engine.closed:
	case <-p.stop:
	}
}
