package main

import (
	"context"
	"log/slog"
	"os"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// readyPatience is how long a start waits for Telegram before it counts as one
// all the same. It is less than the 90 s after which systemd gives up on a
// start: a network that is down at boot is no reason to.
const readyPatience = 30 * time.Second

// A supervisor is told how the process is, if it wants to know: systemd with
// Type=notify, or whatever else has set NOTIFY_SOCKET.
type supervisor struct {
	tell  func(state string) error
	every time.Duration // how often it wants to hear that all is well; 0 for never
	log   *slog.Logger
}

// newSupervisor returns nil if nobody wants to know.
func newSupervisor(log *slog.Logger) (*supervisor, error) {
	if os.Getenv("NOTIFY_SOCKET") == "" {
		return nil, nil
	}
	every, err := daemon.SdWatchdogEnabled(false)
	tell := func(state string) error {
		_, err := daemon.SdNotify(false, state)
		return err
	}
	return &supervisor{tell: tell, every: every, log: log}, err
}

// supervised keeps the supervisor informed until ctx ends.
func supervised(ctx context.Context, services []service, log *slog.Logger) error {
	s, err := newSupervisor(log)
	switch {
	case err != nil:
		log.Warn("WATCHDOG_USEC makes no sense; the service manager is not told that the process works", "err", err)
	case s == nil:
		return nil
	}
	s.inform(ctx, beatOf(services), readyOf(ctx, services))
	return nil
}

// beatOf returns when the loops of all engines turn.
func beatOf(services []service) func(context.Context) error {
	return func(ctx context.Context) error {
		for _, s := range services {
			if err := s.engine.Beat(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// readyOf is closed when all channels are.
func readyOf(ctx context.Context, services []service) <-chan struct{} {
	all := make(chan struct{})
	go func() {
		for _, s := range services {
			if s.ready == nil {
				continue
			}
			select {
			case <-s.ready:
			case <-ctx.Done():
				return
			}
		}
		close(all)
	}()
	return all
}

// inform says that the process is ready once the engines work and Telegram has
// answered; then, as often as is wanted, that it works, but only if beat
// returns: a loop that hangs is worth a restart, which loses nothing (I1).
func (s *supervisor) inform(ctx context.Context, beat func(context.Context) error, connected <-chan struct{}) {
	defer s.say(daemon.SdNotifyStopping)
	if beat(ctx) != nil {
		return
	}
	select {
	case <-connected:
	case <-time.After(readyPatience):
	case <-ctx.Done():
		return
	}
	s.say(daemon.SdNotifyReady)
	if s.every <= 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(s.every / 2) // as sd_watchdog_enabled(3) advises
	defer tick.Stop()
	for beat(ctx) == nil {
		s.say(daemon.SdNotifyWatchdog)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

func (s *supervisor) say(state string) {
	if err := s.tell(state); err != nil {
		s.log.Warn("the service manager cannot be told how the process is", "state", state, "err", err)
	}
}
