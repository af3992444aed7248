package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"

	"golang.org/x/sync/errgroup"

	"lastword/bot"
	"lastword/conversation"
	"lastword/storage"
	"lastword/web"
)

// house is what all channels share.
type house struct {
	config Config
	store  *storage.DB
	model  conversation.Model
	log    *slog.Logger
	out    io.Writer // for the operator's eyes: what it gets may be a secret
}

// A service is a channel with the engine that works for it. An engine has one
// identity: two channels have two, over one store, whose transactions run one
// at a time, and one model.
type service struct {
	engine *conversation.Engine
	run    func(ctx context.Context, receive func(context.Context, conversation.Batch) error) error
	ready  <-chan struct{} // closed when the channel has reached whom it talks to; nil if that is nobody
}

// services makes those that the configuration asks for.
func (h house) services() (all []service, err error) {
	if h.config.onTelegram() {
		s, err := h.telegram()
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	if h.config.Web.Listen != "" {
		chat, err := h.openWeb()
		if err != nil {
			return nil, err
		}
		if h.config.Web.Inspector {
			fmt.Fprintf(h.out, "The web chat, with what its engine does, for its owner only:\n\n    %s\n\n", chat.address)
		}
		all = append(all, chat.service)
	}
	return all, nil
}

func (h house) telegram() (service, error) {
	telegram, err := bot.New(h.config.Telegram, h.config.Access, h.store, h.log)
	if err != nil {
		return service{}, err
	}
	if err := invite(telegram, h.out); err != nil {
		return service{}, err
	}
	return service{h.engine(telegram, telegram.Identity(), h.store), telegram.Run, telegram.Connected()}, nil
}

// engine makes the engine of a channel. Each may have llm.max_concurrent calls
// in flight; that all of them together have no more is the model's own limit,
// where a call of a channel waits while the other has the places. A turn that
// waits there has taken its snapshot; newer input cancels it like any other.
func (h house) engine(c conversation.Channel, identity string, store conversation.Store) *conversation.Engine {
	return conversation.New(conversation.Options{
		Config: h.config.Turn,
		Limits: conversation.Limits{
			Retries: h.config.LLM.Retries, ContextTokens: h.config.LLM.ContextTokens, Concurrent: h.config.LLM.MaxConcurrent,
		},
		Identity: identity, Store: store, Model: h.model, Channel: c, Log: h.log,
	})
}

// webChat is the web chat with its address open.
type webChat struct {
	service
	listener net.Listener
	address  string // for the owner's eyes, if there is an inspector
}

// openWeb opens the address of the web chat.
func (h house) openWeb() (webChat, error) {
	chat := web.New(web.Options{Config: h.config.Web, Turn: h.config.Turn, Store: h.store, Log: h.log})
	listener, err := chat.Listen()
	if err != nil {
		return webChat{}, err
	}
	run := func(ctx context.Context, receive func(context.Context, conversation.Batch) error) error {
		return chat.Run(ctx, listener, receive)
	}
	return webChat{service{h.engine(chat, chat.Identity(), chat.Store()), run, nil}, listener, chat.Address(listener)}, nil
}

// invite prints how to become the owner, if the bot has none.
func invite(telegram *bot.Bot, out io.Writer) error {
	code, err := telegram.Pair()
	if err != nil || code == "" {
		return err
	}
	_, err = fmt.Fprintf(out, "Nobody may talk to this bot yet. Send it this message to become its owner:\n\n    /start %s\n\n", code)
	return err
}

// serve runs channels and engines until ctx ends or one of them fails. Channels
// end first, so that nothing comes in any more while the engines end their
// work.
func serve(ctx context.Context, services []service, log *slog.Logger) error {
	work, endWork := context.WithCancel(context.WithoutCancel(ctx))
	defer endWork()
	group, open := errgroup.WithContext(ctx)
	var channels sync.WaitGroup
	for _, s := range services {
		group.Go(func() error { return s.engine.Run(work) })
		channels.Add(1)
		group.Go(func() error {
			defer channels.Done()
			return s.run(open, s.engine.Receive)
		})
	}
	group.Go(func() error { return supervised(open, services, log) })
	group.Go(func() error {
		channels.Wait()
		endWork()
		return nil
	})
	return group.Wait()
}
