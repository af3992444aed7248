package conversation

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Config is the section turn: when a person has finished, and what happens if
// it turns out that they had not.
type Config struct {
	Debounce     time.Duration `yaml:"debounce"`       // how long after a message a person counts as finished
	MaxWait      time.Duration `yaml:"max_wait"`       // the longest that further messages can put a turn off
	OnNewMessage OnNewMessage  `yaml:"on_new_message"` // what a message does to a running generation
	MaxRestarts  int           `yaml:"max_restarts"`   // cancelled calls after which a turn is protected
	LeaseTTL     time.Duration `yaml:"lease_ttl"`      // how long a dead worker can hold a conversation
	ReviseWindow time.Duration `yaml:"revise_window"`  // how long an edit changes the reply; 0: it corrects the history only
	Regenerate   Regenerating  `yaml:"regenerate"`     // what the button under a reply does
}

// OnNewMessage is a policy.
type OnNewMessage string

// The policies of turn.on_new_message.
const (
	Restart OnNewMessage = "restart" // cancel the call, answer both together
	Finish  OnNewMessage = "finish"  // deliver it as a reply to what it covers; the rest gets the next turn
)

// DefaultConfig is what an empty section means.
func DefaultConfig() Config {
	return Config{
		Debounce:     1500 * time.Millisecond,
		MaxWait:      10 * time.Second,
		OnNewMessage: Restart,
		MaxRestarts:  3,
		LeaseTTL:     30 * time.Second,
		ReviseWindow: 15 * time.Minute,
		Regenerate:   LastRequested,
	}
}

// Validate reports everything that is wrong with the section, joined.
func (c Config) Validate() error {
	var errs []error
	wrong := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	wrong(c.Debounce < 0, "turn.debounce: must not be negative; 1.5s is a good value")
	wrong(c.MaxWait <= 0, "turn.max_wait: must be positive; 10s is a good value")
	wrong(c.Debounce > c.MaxWait && c.MaxWait > 0, "turn.max_wait: is shorter than turn.debounce, so no turn would ever wait for its debounce; raise turn.max_wait or lower turn.debounce")
	wrong(c.OnNewMessage != Restart && c.OnNewMessage != Finish, "turn.on_new_message: must be restart or finish")
	wrong(c.MaxRestarts < 0, "turn.max_restarts: must not be negative; 0 protects every generation")
	wrong(c.LeaseTTL < time.Second, "turn.lease_ttl: must be 1s or more; 30s is a good value")
	wrong(c.ReviseWindow < 0, "turn.revise_window: must not be negative; 0s turns revisions off")
	wrong(!slices.Contains([]Regenerating{LastRequested, FirstAccepted, Choose, NoRegenerate}, c.Regenerate),
		"turn.regenerate: must be last_requested, first_accepted, choose or off")
	return errors.Join(errs...)
}

// Limits is what the engine has to know of the model's configuration.
type Limits struct {
	Retries       int // calls that may fail in a turn before the user is told
	ContextTokens int // the longest prompt
	Concurrent    int // model calls in flight, of all conversations; 0 for no limit
}
