package bot

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"

	telegram "github.com/go-telegram/bot"

	"lastword/bot/markup"
	"lastword/conversation"
)

// errNoDrafts means that a chat shows no drafts: Telegram has them in private
// chats only (Bot API, sendMessageDraft).
var errNoDrafts = errors.New("no drafts in this chat")

// Preview implements [conversation.Channel] with drafts. A draft without text
// is shown as "Thinking…". It can be stopped, which comes back as an update.
func (b *Bot) Preview(ctx context.Context, to conversation.Key, id conversation.Generation, text string) error {
	if !b.streaming || to.Chat <= 0 {
		return errNoDrafts
	}
	if b.pace.draftsQuiet(to.Chat) {
		return nil // a frame less; the next shows all of it
	}
	tail := markup.Tail(markup.Draft(text), markup.Message.Units)
	ctx, cancel := context.WithTimeout(ctx, typingPatience)
	defer cancel()
	_, err := b.api.sends.SendMessageDraft(ctx, &telegram.SendMessageDraftParams{
		ChatID: to.Chat, MessageThreadID: int(to.Thread), DraftID: strconv.FormatUint(uint64(id), 10),
		Text: tail.Text, Entities: tail.Entities, CanStop: true,
	})
	var flood *telegram.TooManyRequestsError
	if errors.As(err, &flood) {
		b.pace.hushDrafts(to.Chat, retryAfter(flood))
		return nil
	}
	if err != nil {
		return b.explain(err)
	}
	return nil
}

// stopped translates the update that a draft was stopped. It names the draft:
// a button of an older one stops nothing.
func (t *translator) stopped(a conversation.Arrival, raw json.RawMessage) conversation.Arrival {
	var s struct {
		Chat   chat        `json:"chat"`
		Thread int64       `json:"message_thread_id"`
		Draft  json.Number `json:"draft_id"`
	}
	if json.Unmarshal(raw, &s) != nil {
		t.skip(a.Update)
		return a
	}
	id, err := strconv.ParseUint(s.Draft.String(), 10, 64)
	if err != nil || id == 0 || !t.gate.admits(s.Chat) {
		return a
	}
	a.Key = t.key(s.Chat.ID, s.Thread)
	a.Event = conversation.Stop{Of: conversation.Generation(id)}
	return a
}
