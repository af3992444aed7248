// Package bot talks to Telegram; [Bot] implements conversation.Channel.
//
// What arrives goes through poll.go, which keeps the offset, inbound.go, which
// makes events of updates, and access.go, which decides who may talk. What is
// shown goes through pace.go, which keeps Telegram's limits, outbound.go and
// outcome.go, which says what is known of a call that failed.
//
//	getUpdates → batch → translated → stored by the engine → next offset
//
// An update is confirmed to Telegram only by the poll after the one whose batch
// was stored (I1). Telegram has no idempotency key, so an error of a send is
// worth something only if it says whether a message may be visible (I2): what
// cannot be said is in doubt, and is looked for.
//
// Telegram's types and texts stay in this package. No error, no log line and
// no printed value holds the token, and none holds what people or models say
// (I8): where an answer of the API could be part of an error, the error is
// replaced.
package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"lastword/conversation"
)

// Bot is one Telegram bot.
type Bot struct {
	id    int64
	api   *api
	store conversation.Store
	log   *slog.Logger
	pace  *pace
	gate  *gate

	pollTimeout time.Duration
	streaming   bool
	maxParts    int
	rich        bool
	noRich      atomic.Bool // the server has no rich messages
	loaded      bool        // the gate has its record

	connected chan struct{} // closed when Telegram has answered Run
	connect   sync.Once
}

// New makes a bot. It does nothing until Run.
func New(cfg Config, access AccessConfig, store conversation.Store, log *slog.Logger) (*Bot, error) {
	return newBot(cfg, access, store, log, transport(), transport())
}

func newBot(cfg Config, access AccessConfig, store conversation.Store, log *slog.Logger, polls, sends http.RoundTripper) (*Bot, error) {
	if err := errors.Join(cfg.Validate(), access.Validate()); err != nil {
		return nil, err
	}
	id, err := BotID(cfg.Token)
	if err != nil {
		return nil, err
	}
	a, err := newAPI(cfg, polls, sends)
	if err != nil {
		return nil, err
	}
	return &Bot{
		id: id, api: a, store: store, log: log, pace: newPace(), pollTimeout: cfg.PollTimeout,
		streaming: cfg.Streaming == streamingAuto, maxParts: cfg.MaxParts, rich: cfg.RichMessages,
		gate:      &gate{config: access, bot: id, store: store, now: time.Now},
		connected: make(chan struct{}),
	}, nil
}

// Connected is closed when Telegram has answered Run for the first time.
func (b *Bot) Connected() <-chan struct{} { return b.connected }

// Format prints a bot without the token that it holds, whatever the verb.
func (b *Bot) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "bot %d", b.id) }

// Identity is what the conversation keys of this bot begin with.
func (b *Bot) Identity() string {
	return conversation.Key{Channel: Channel, Bot: b.id}.Identity()
}

// Pair reads who may talk to the bot. If nobody can, it returns a code, which
// is to be shown to the operator once and nowhere else: whoever sends it with
// /start becomes the owner. Call it before Run.
func (b *Bot) Pair() (code string, err error) {
	if err := b.loadGate(); err != nil {
		return "", err
	}
	return b.gate.newCode()
}

func (b *Bot) loadGate() error {
	if b.loaded {
		return nil
	}
	if err := b.gate.load(); err != nil {
		return err
	}
	b.loaded = true
	return nil
}

// Check asks Telegram who the bot is, once. The error names the setting that is
// to blame.
func (b *Bot) Check(ctx context.Context) (username string, err error) {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	var me user
	err = b.api.call(ctx, "getMe", struct{}{}, &me)
	var answer *apiError
	switch {
	case err == nil:
		return me.Username, nil
	case unauthorized(err):
		return "", ErrUnauthorized
	case errors.As(err, &answer) && answer.Code == http.StatusNotFound:
		return "", errors.New("telegram.token: is unknown at telegram.api_url; check both")
	case errors.As(err, &answer):
		return "", fmt.Errorf("telegram.api_url: does not answer like the Bot API: %w", err)
	}
	return "", fmt.Errorf("telegram.api_url: cannot be reached: %w", err)
}

// Run polls and hands batches to receive, which stores them, until ctx ends. It
// returns nil then, and [ErrUnauthorized] if Telegram refuses the token.
func (b *Bot) Run(ctx context.Context, receive func(context.Context, conversation.Batch) error) error {
	if err := b.loadGate(); err != nil {
		return err
	}
	offset, err := b.offset()
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	defer group.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	p := &poller{api: b.api, timeout: b.pollTimeout, log: b.log, trouble: trouble{log: b.log}}
	me, err := p.whoAmI(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	b.log.Info("connected to Telegram", "bot", b.id, "username", me.Username)
	b.connect.Do(func() { close(b.connected) })
	group.Go(func() { b.RegisterCommands(ctx) })
	t := &translator{bot: b.id, username: me.Username, gate: b.gate, log: b.log}
	p.store = func(ctx context.Context, raw []json.RawMessage, next int64) error {
		batch, err := t.batch(raw, next)
		if err != nil {
			return err
		}
		b.log.Debug("updates received", "count", len(raw), "offset", next)
		return receive(ctx, batch)
	}
	return p.run(ctx, offset)
}

// whoAmI asks for the bot's own name until Telegram answers.
func (p *poller) whoAmI(ctx context.Context) (me user, err error) {
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, callPatience)
		err := p.api.call(call, "getMe", struct{}{}, &me)
		cancel()
		switch {
		case ctx.Err() != nil:
		case err == nil:
			p.trouble.over()
			return me, nil
		case unauthorized(err):
			return me, ErrUnauthorized
		default:
			rest(ctx, p.remedy(ctx, err))
		}
	}
	return me, nil
}

// offset is from where to poll: what the engine stored with the last batch.
func (b *Bot) offset() (int64, error) {
	var data []byte
	name := conversation.OffsetName(b.Identity())
	err := b.store.View(func(tx conversation.Tx) (err error) {
		data, err = tx.Meta(name)
		return err
	})
	if err != nil || data == nil {
		return 0, err
	}
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("bucket meta, key %q: the record is damaged (%d bytes, not a number)", name, len(data))
	}
	return max(n, 0), nil // a negative offset would make Telegram forget updates
}
