package bot

import (
	"context"

	telegram "github.com/go-telegram/bot"

	"lastword/conversation"
)

// gone are the answers to the removal of a message that is not there.
var gone = []string{"message to delete not found", "message can't be deleted", "message_id_invalid"}

// replace shows a part in the place of a visible message, or removes that if
// the part has no text.
func (b *Bot) replace(ctx context.Context, to conversation.Key, p conversation.Part) (int64, *conversation.SendError) {
	ctx, cancel := context.WithTimeout(ctx, sendPatience)
	defer cancel()
	tracked, flag := track(ctx)
	var err error
	if p.Text == "" {
		_, err = b.api.sends.DeleteMessage(tracked, &telegram.DeleteMessageParams{ChatID: to.Chat, MessageID: int(p.Replaces)})
	} else {
		err = b.become(tracked, to, p, p.Replaces)
		if b.richly(p) && b.unrich(err) {
			p.Rich = ""
			err = b.become(tracked, to, p, p.Replaces)
		}
	}
	if why := refusal(err); err == nil || says(why, notModified) || p.Text == "" && says(why, gone) {
		return p.Replaces, nil
	}
	return 0, b.outcome(err, flag.Load())
}
