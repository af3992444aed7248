package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"lastword/bot"
	"lastword/llm"
	"lastword/storage"
)

// check says line by line what works and what does not, and returns the exit
// status: 0 if everything does. It changes nothing.
func check(ctx context.Context, file string, out io.Writer) int {
	failed := false
	line := func(what string, err error) {
		if err == nil {
			fmt.Fprintf(out, "ok    %s\n", what)
			return
		}
		failed = true
		for l := range strings.Lines(err.Error()) {
			fmt.Fprintf(out, "error %s\n", strings.TrimRight(l, "\n"))
		}
	}
	cfg, err := loadConfig(file)
	line("configuration "+file, err)
	if err != nil {
		return 1
	}
	what, err := checkStore(cfg.Storage.Path)
	line(what, err)
	discard := slog.New(slog.DiscardHandler)
	if cfg.onTelegram() {
		line(checkTelegram(ctx, cfg, discard))
	}
	model := llm.New(cfg.LLM, discard, nil)
	defer model.Close()
	line("model "+cfg.LLM.Model, model.Check(ctx))
	if failed {
		return 1
	}
	return 0
}

// checkTelegram asks Telegram who the bot is.
func checkTelegram(ctx context.Context, cfg Config, log *slog.Logger) (what string, err error) {
	telegram, err := bot.New(cfg.Telegram, cfg.Access, nil, log)
	if err != nil {
		return "", err
	}
	username, err := telegram.Check(ctx)
	return "Telegram, as @" + username, err
}

// checkStore opens the data file and closes it again.
func checkStore(path string) (what string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "data file " + path + ", which the first start will create", nil
	}
	store, err := storage.Open(path)
	if errors.Is(err, storage.ErrInUse) {
		return "data file " + path + ", which a running lastword uses", nil
	}
	if err != nil {
		return "", err
	}
	return "data file " + path, store.Close()
}
