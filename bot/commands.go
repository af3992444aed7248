package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	telegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"lastword/conversation"
)

// command is what a message asks for if it begins with /name. The zero value
// is no command.
type command struct {
	name    string // one of commands, lower case; empty for unknown ones
	args    string
	named   bool // it has the bot's own name: /x@this_bot
	foreign bool // it has the name of another bot, in a group: nothing to this one
}

// commands are the names that mean something.
var commands = []string{"start", "help", "reset", "new", "stop", "status", "allow", "deny"}

// command reads the command that a message begins with.
func (t *translator) command(m *message) command {
	text := m.text()
	if !strings.HasPrefix(text, "/") {
		return command{}
	}
	i := slices.IndexFunc(m.entities(), func(e entity) bool { return e.Type == "bot_command" && e.Offset == 0 })
	if i < 0 {
		return command{}
	}
	units := utf16.Encode([]rune(text))
	word := m.entities()[i].of(units)
	name, target, aimed := strings.Cut(strings.TrimPrefix(word, "/"), "@")
	var c command
	if aimed && !strings.EqualFold(target, t.username) {
		c.foreign = !m.Chat.private() // in a private chat there is nobody else to talk to
		return c
	}
	c.named = aimed
	if name = strings.ToLower(name); slices.Contains(commands, name) {
		c.name = name
		c.args = strings.TrimSpace(strings.TrimPrefix(text, word))
	}
	return c
}

// request is a message with what has been found out about it.
type request struct {
	*message
	update    int64
	author    int64
	language  string
	command   command
	addressed bool
}

// execute makes the event of a command of somebody who is admitted.
func (t *translator) execute(r request) (conversation.Event, error) {
	w := wordsFor(r.language)
	switch r.command.name {
	case "reset", "new":
		return conversation.Reset{Language: r.language}, nil
	case "stop":
		return conversation.Stop{Language: r.language}, nil
	case "status":
		return conversation.AskStatus{Language: r.language}, nil
	case "allow", "deny":
		return t.gate.change(r)
	case "start":
		return say(w.start, r.language), nil
	}
	return say(w.help, r.language), nil
}

// say is a text of the bot itself.
func say(text, language string) conversation.Event {
	return conversation.Say{Notice: conversation.Notice{Code: conversation.Said, Text: text, Language: language}}
}

// registered are the commands that clients offer; the owner's are not shown to
// everybody.
var registered = []string{"new", "stop", "status", "help"}

// RegisterCommands tells Telegram which commands clients should offer, in each
// language. That it fails costs only the menu.
func (b *Bot) RegisterCommands(ctx context.Context) {
	for _, code := range append([]string{""}, languages()...) {
		var list []models.BotCommand
		for _, name := range registered {
			list = append(list, models.BotCommand{Command: name, Description: wordsFor(code).commands[name]})
		}
		for _, pause := range []time.Duration{2 * time.Second, 10 * time.Second, 0} {
			call, cancel := context.WithTimeout(ctx, callPatience)
			_, err := b.api.sends.SetMyCommands(call, &telegram.SetMyCommandsParams{Commands: list, LanguageCode: code})
			cancel()
			if err == nil || ctx.Err() != nil {
				break
			}
			if pause == 0 {
				b.log.Info("the menu of commands could not be set", "language", code, "err", b.explain(err))
				return
			}
			var flood *telegram.TooManyRequestsError
			if errors.As(err, &flood) {
				pause = max(pause, retryAfter(flood))
			}
			rest(ctx, pause)
		}
		if ctx.Err() != nil {
			return
		}
	}
}
