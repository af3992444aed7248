package bot

import (
	"context"
	"strings"

	telegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"lastword/conversation"
)

// The three forms in which a part is shown: a message of text and entities; a
// rich message, if the operator wants that and the server can; a file with the
// whole of an answer that has too many parts, with the end of it as caption.

// fileName is what the file is called.
const fileName = "answer.md"

// richly reports whether a part is shown as a rich message.
func (b *Bot) richly(p conversation.Part) bool { return p.Rich != "" && !b.noRich.Load() }

func rich(p conversation.Part) models.InputRichMessage {
	return models.InputRichMessage{Markdown: p.Rich}
}

// show makes the call that shows a part as a new message.
func (b *Bot) show(ctx context.Context, to conversation.Key, p conversation.Part, quote *models.ReplyParameters) (int64, error) {
	buttons := keyboard(to, p.Buttons)
	switch {
	case p.File != "":
		return newID(b.api.sends.SendDocument(ctx, &telegram.SendDocumentParams{
			ChatID: to.Chat, MessageThreadID: int(to.Thread), Caption: p.Text, CaptionEntities: formatting(p),
			Document: &models.InputFileUpload{Filename: fileName, Data: strings.NewReader(p.File)}, ReplyParameters: quote, ReplyMarkup: buttons,
		}))
	case b.richly(p):
		return newID(b.api.sends.SendRichMessage(ctx, &telegram.SendRichMessageParams{
			ChatID: to.Chat, MessageThreadID: int(to.Thread), RichMessage: rich(p), ReplyParameters: quote, ReplyMarkup: buttons,
		}))
	}
	return newID(b.api.sends.SendMessage(ctx, &telegram.SendMessageParams{
		ChatID: to.Chat, MessageThreadID: int(to.Thread), Text: p.Text, Entities: formatting(p),
		LinkPreviewOptions: noPreview, ReplyParameters: quote, ReplyMarkup: buttons,
	}))
}

// newID is the id of a message that was sent.
func newID(m *models.Message, err error) (int64, error) {
	if err == nil && (m == nil || m.ID == 0) {
		err = errNoID
	}
	if err != nil {
		return 0, err
	}
	return int64(m.ID), nil
}

// become makes the call that shows a part in the place of a visible message.
func (b *Bot) become(ctx context.Context, to conversation.Key, p conversation.Part, id int64) error {
	buttons := keyboard(to, p.Buttons)
	if p.File != "" {
		_, err := b.api.sends.EditMessageMedia(ctx, &telegram.EditMessageMediaParams{
			ChatID: to.Chat, MessageID: int(id), ReplyMarkup: buttons, Media: &models.InputMediaDocument{
				Media: "attach://" + fileName, MediaAttachment: strings.NewReader(p.File), Caption: p.Text, CaptionEntities: formatting(p),
			},
		})
		return err
	}
	params := &telegram.EditMessageTextParams{ChatID: to.Chat, MessageID: int(id), ReplyMarkup: buttons}
	if b.richly(p) {
		r := rich(p)
		params.RichMessage = &r
	} else {
		params.Text, params.Entities, params.LinkPreviewOptions = p.Text, formatting(p), noPreview
	}
	_, err := b.api.sends.EditMessageText(ctx, params)
	return err
}

// resemble makes the edit that changes nothing if a message already is the
// part. Of a file, the caption is compared.
func (b *Bot) resemble(ctx context.Context, to conversation.Key, p conversation.Part, id int64) error {
	if p.File == "" {
		return b.become(ctx, to, p, id)
	}
	_, err := b.api.sends.EditMessageCaption(ctx, &telegram.EditMessageCaptionParams{
		ChatID: to.Chat, MessageID: int(id), Caption: p.Text, CaptionEntities: formatting(p), ReplyMarkup: keyboard(to, p.Buttons),
	})
	return err
}
