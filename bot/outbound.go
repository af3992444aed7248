package bot

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	telegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"lastword/bot/markup"
	"lastword/conversation"
)

var _ conversation.Channel = (*Bot)(nil)

// sendPatience bounds a call that sends. Near its limits the server holds
// requests open for long, and carries them out.
const (
	sendPatience   = 35 * time.Second
	typingPatience = 5 * time.Second // as long as the indicator is shown
)

// Compose implements [conversation.Channel]: Markdown becomes formatting. Of an
// answer with too many parts the first ones are shown, and all of it in a file.
func (b *Bot) Compose(text string) []conversation.Part {
	whole := markup.Markdown(text)
	split := whole.Split(markup.Message)
	if len(split) == 0 {
		// Nothing but markup: better shown as it is than not at all.
		split = markup.Plain(text).Split(markup.Message)
	}
	var parts []conversation.Part
	for _, t := range split[:min(len(split), b.maxParts)] {
		parts = append(parts, part(t))
	}
	switch {
	case len(split) > b.maxParts:
		p := part(markup.Tail(whole, captionTail))
		p.File = text
		parts = append(parts, p)
	case len(split) == 1 && b.rich:
		parts[0].Rich = markup.Rich(text)
	}
	return parts
}

// captionTail is how much of the end of an answer stands under its file, in
// UTF-16 units. Telegram takes 1024 (Bot API, sendDocument).
const captionTail = 300

// Word implements [conversation.Channel].
func (b *Bot) Word(n conversation.Notice) conversation.Part {
	p := conversation.Part{Text: "…"}
	if parts := markup.Plain(noticeText(n, time.Now())).Split(markup.Message); len(parts) > 0 {
		p = part(parts[0])
	}
	if n.Press != nil {
		p.Buttons = []conversation.Button{{Press: *n.Press, Label: wordsFor(n.Language).labels[n.Press.Do]}}
	}
	return p
}

func part(t markup.Text) conversation.Part {
	p := conversation.Part{Text: t.Text}
	if len(t.Entities) > 0 {
		p.Entities, _ = json.Marshal(t.Entities) // a slice of structs of strings and numbers always encodes
	}
	return p
}

// formatting reads the entities of a part. What cannot be read costs the
// formatting, not the text.
func formatting(p conversation.Part) []models.MessageEntity {
	var e []models.MessageEntity
	if len(p.Entities) > 0 && json.Unmarshal(p.Entities, &e) != nil {
		return nil
	}
	return e
}

// sequence names from where the messages of a chat get their ids: private
// chats and basic groups share one for the whole account, supergroups and
// channels, whose ids begin with -100, have their own.
func sequence(chat int64) int64 {
	if chat > -1_000_000_000_000 {
		return 0
	}
	return chat
}

// Sequence implements [conversation.Channel].
func (b *Bot) Sequence(chat int64) int64 { return sequence(chat) }

// Send implements [conversation.Channel].
func (b *Bot) Send(ctx context.Context, to conversation.Key, p conversation.Part, target conversation.Source) (int64, error) {
	if d := b.pace.wait(to.Chat); d > shortWait {
		return 0, &conversation.SendError{Kind: conversation.Later, After: d, Err: errPaced}
	} else if rest(ctx, d); ctx.Err() != nil {
		return 0, &conversation.SendError{Kind: conversation.NotSent, Err: ctx.Err()}
	}
	leave, err := b.pace.enter(ctx, to.Chat, shared)
	if err != nil {
		return 0, &conversation.SendError{Kind: conversation.NotSent, Err: err}
	}
	defer leave()
	if d, _ := b.pace.left(to.Chat); d > 0 { // since a send beside this one
		return 0, &conversation.SendError{Kind: conversation.Later, After: d, Err: errPaced}
	}
	var id int64
	var failed *conversation.SendError
	if p.Replaces != 0 {
		id, failed = b.replace(ctx, to, p)
	} else {
		id, failed = b.send(ctx, to, p, target)
	}
	if failed == nil {
		b.pace.shown(to.Chat, id)
		return id, nil
	}
	if failed.Kind == conversation.Later {
		b.pace.flooded(to.Chat, failed.After)
	}
	return 0, failed
}

var errPaced = errors.New("too many messages at once")

var noPreview = &models.LinkPreviewOptions{IsDisabled: telegram.True()}

// send shows a part, and tries again without each thing that Telegram takes
// exception to: the message to quote, the topic, the formatting. All of these
// answers say that nothing was sent.
func (b *Bot) send(ctx context.Context, to conversation.Key, p conversation.Part, target conversation.Source) (int64, *conversation.SendError) {
	var quote *models.ReplyParameters
	if target.ID != 0 && target.Chat == to.Chat {
		quote = &models.ReplyParameters{MessageID: int(target.ID), AllowSendingWithoutReply: true}
	}
	for {
		id, left, err := b.sendOnce(ctx, to, p, quote)
		if err == nil {
			return id, nil
		}
		switch why := refusal(err); {
		case says(why, replyGone) && quote != nil:
			quote = nil
		case says(why, threadGone) && to.Thread != 0:
			to.Thread = 0
		case b.richly(p) && b.unrich(err):
			p.Rich = ""
		case says(why, textFault) && p.Entities != nil:
			p.Entities = nil
		default:
			return 0, b.outcome(err, left)
		}
	}
}

// unrich reports whether an answer says that a rich message is not possible:
// this one, or any if the server does not know the method.
func (b *Bot) unrich(err error) bool {
	if errors.Is(err, telegram.ErrorNotFound) {
		if !b.noRich.Swap(true) {
			b.log.Warn("the Bot API server has no rich messages; answers are sent as plain ones from now on")
		}
		return true
	}
	return says(refusal(err), richFault)
}

var errNoID = errors.New("the answer holds no message id")

func (b *Bot) sendOnce(ctx context.Context, to conversation.Key, p conversation.Part, quote *models.ReplyParameters) (id int64, left bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	ctx, flag := track(ctx)
	if id, err = b.show(ctx, to, p, quote); err != nil {
		return 0, flag.Load(), err
	}
	return id, true, nil
}

// Typing implements [conversation.Channel].
func (b *Bot) Typing(ctx context.Context, to conversation.Key) error {
	if _, quiet := b.pace.left(to.Chat); quiet > 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, typingPatience)
	defer cancel()
	_, err := b.api.sends.SendChatAction(ctx, &telegram.SendChatActionParams{
		ChatID: to.Chat, MessageThreadID: int(to.Thread), Action: models.ChatActionTyping,
	})
	var flood *telegram.TooManyRequestsError
	if errors.As(err, &flood) {
		b.pace.hush(to.Chat, retryAfter(flood))
	}
	if err != nil {
		return b.explain(err)
	}
	return nil
}
