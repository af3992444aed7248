package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	telegram "github.com/go-telegram/bot"

	"lastword/conversation"
)

const (
	probePatience = 10 * time.Second // of one call
	probeLimit    = 45 * time.Second // of a look: it is made again after a minute
)

// Probe implements [conversation.Channel]. It gives each candidate the buttons
// of the part: to the part that changes nothing, and no other message has the
// same. If the part has none, taking the buttons away tells it from messages
// that have some. Which of those without is the part is told by an edit to its
// text: to the part that changes nothing either, but another message would
// become it.
func (b *Bot) Probe(ctx context.Context, to conversation.Key, p conversation.Part, candidates []int64, stale bool) (conversation.Probed, error) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	if d, _ := b.pace.left(to.Chat); d > 0 {
		return conversation.Probed{}, errPaced
	}
	leave, err := b.pace.enter(ctx, to.Chat, exclusive)
	if err != nil {
		return conversation.Probed{}, err
	}
	defer leave()
	candidates = b.pace.unknown(to.Chat, candidates) // some may have been sent since they were listed
	met, err := b.meet(ctx, to, p, candidates[:min(len(candidates), mostCandidates)])
	switch {
	case err != nil:
		return met, b.lookFailed(to, err)
	case len(p.Buttons) > 0, stale, len(met.Can) == 0:
		return met, nil
	}
	id, err := b.compare(ctx, to, p, met.Can)
	met.Can = nil
	if id != 0 {
		met.Can = []int64{id}
	}
	return met, err
}

// meet tells messages of the bot by their buttons. Those that are not the part
// have none afterwards.
func (b *Bot) meet(ctx context.Context, to conversation.Key, p conversation.Part, candidates []int64) (met conversation.Probed, err error) {
	buttons := keyboard(to, p.Buttons)
	for _, id := range candidates {
		call, cancel := context.WithTimeout(ctx, probePatience)
		_, err := b.api.sends.EditMessageReplyMarkup(call, &telegram.EditMessageReplyMarkupParams{
			ChatID: to.Chat, MessageID: int(id), ReplyMarkup: buttons,
		})
		cancel()
		switch why := refusal(err); {
		case says(why, notModified):
			met.Can = append(met.Can, id)
			if buttons != nil {
				return met, nil
			}
		case err == nil:
			met.Others = append(met.Others, id)
			if buttons == nil {
				continue
			}
			if err := b.setKeyboard(ctx, to, id, nil); err != nil {
				return met, err
			}
		case !says(why, notOurs):
			return met, err
		}
	}
	return met, nil
}

// compare finds the part among messages of the bot.
func (b *Bot) compare(ctx context.Context, to conversation.Key, p conversation.Part, ours []int64) (int64, error) {
	var changed []int64 // messages that now show the text, whatever they showed before
	for _, id := range ours {
		err := b.edit(ctx, to, p, id)
		switch why := refusal(err); {
		case err == nil:
			b.log.Warn("a look for an answer met another message of the bot", "chat", to.Chat, "message", id)
			changed = append(changed, id)
		case says(why, notModified):
			b.remove(ctx, to, changed)
			return id, nil
		case says(why, notOurs):
		case len(changed) > 0:
			return b.keepOne(ctx, to, changed), nil
		default:
			return 0, b.lookFailed(to, err)
		}
	}
	return b.keepOne(ctx, to, changed), nil
}

// mostCandidates bounds the calls of a look.
const mostCandidates = 5

// edit asks whether a message is the part.
func (b *Bot) edit(ctx context.Context, to conversation.Key, p conversation.Part, id int64) error {
	ctx, cancel := context.WithTimeout(ctx, probePatience)
	defer cancel()
	return b.resemble(ctx, to, p, id)
}

func (b *Bot) lookFailed(to conversation.Key, err error) error {
	var flood *telegram.TooManyRequestsError
	if errors.As(err, &flood) {
		b.pace.flooded(to.Chat, retryAfter(flood))
	}
	return b.explain(err)
}

// keepOne leaves the text visible once; 0 if it is not.
func (b *Bot) keepOne(ctx context.Context, to conversation.Key, changed []int64) int64 {
	if len(changed) == 0 {
		return 0
	}
	b.remove(ctx, to, slices.Clone(changed[1:]))
	return changed[0]
}

// remove deletes messages that show a text a second time.
func (b *Bot) remove(ctx context.Context, to conversation.Key, ids []int64) {
	for _, id := range ids {
		call, cancel := context.WithTimeout(ctx, probePatience)
		_, err := b.api.sends.DeleteMessage(call, &telegram.DeleteMessageParams{ChatID: to.Chat, MessageID: int(id)})
		cancel()
		if err != nil {
			b.log.Warn("a message that shows an answer a second time could not be removed", "chat", to.Chat, "err", b.explain(err))
		}
	}
}
