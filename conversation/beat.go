package conversation

import "context"

// Beat returns nil when the loop has come to the point where it takes what has
// queued up: it turns. While a commit hangs, as on a disk that does not answer,
// Beat waits until ctx ends. It costs no transaction.
func (e *Engine) Beat(ctx context.Context) error {
	select {
	case e.beats <- struct{}{}:
		return nil
	case <-e.closed:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

// wait blocks until there is something to do and returns the first request, if
// it is one. It returns false when the engine is to stop.
func (e *Engine) wait() (requests []request, ok bool) {
	alarm := e.alarm()
	defer alarm.Stop()
	for {
		select {
		case r := <-e.inbox:
			e.received(r)
			return []request{r}, true
		case <-alarm.C:
			return nil, true
		case <-e.beats: // that it was taken is the answer
		case <-e.runCtx.Done():
			return nil, false
		}
	}
}
