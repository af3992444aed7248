package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	telegram "github.com/go-telegram/bot"
	"github.com/go-telegram/bot/models"

	"lastword/conversation"
)

// Callback data of a button, at most 64 bytes (Bot API, InlineKeyboardButton):
//
//	action . place . incarnation . turn . generation [ . page ]
//
// Numbers are in base 36. The place is a digest of the conversation's key, so
// that a button means nothing in another chat or topic; the incarnation cannot
// be guessed. Whether the rest is still current, the rules decide.
const (
	mostData = 64
	numeric  = 36
)

// actions are the first fields of callback data.
var actions = map[conversation.Action]string{
	conversation.Regenerate: "r", conversation.TurnPage: "p", conversation.ShowAnswer: "s", conversation.StopAnswer: "x",
}

// place is what callback data says of the conversation that it belongs to.
func place(k conversation.Key) string {
	sum := sha256.Sum256([]byte(k.String()))
	return hex.EncodeToString(sum[:4])
}

// pressData writes callback data.
func pressData(k conversation.Key, p conversation.Press) string {
	fields := []string{
		actions[p.Do], place(k), p.Incarnation,
		strconv.FormatUint(uint64(p.Turn), numeric), strconv.FormatUint(uint64(p.Generation), numeric),
	}
	if p.Page != 0 {
		fields = append(fields, strconv.Itoa(p.Page))
	}
	return strings.Join(fields, ".")
}

// readPress reads callback data that was pressed in a conversation. What does
// not belong to it, or makes no sense, is a press that asks for nothing.
func readPress(k conversation.Key, data string) conversation.Press {
	fields := strings.Split(data, ".")
	if len(data) > mostData || len(fields) < 5 || len(fields) > 6 || fields[1] != place(k) {
		return conversation.Press{}
	}
	p := conversation.Press{Incarnation: fields[2]}
	for action, name := range actions {
		if name == fields[0] {
			p.Do = action
		}
	}
	turn, err1 := strconv.ParseUint(fields[3], numeric, 64)
	generation, err2 := strconv.ParseUint(fields[4], numeric, 64)
	var err3 error
	if len(fields) == 6 {
		p.Page, err3 = strconv.Atoi(fields[5])
	}
	p.Turn, p.Generation = conversation.Version(turn), conversation.Generation(generation)
	if p.Do == "" || err1 != nil || err2 != nil || err3 != nil || pressData(k, p) != data {
		return conversation.Press{}
	}
	return p
}

// keyboard shows buttons in one row; nil for none.
func keyboard(k conversation.Key, buttons []conversation.Button) models.ReplyMarkup {
	if len(buttons) == 0 {
		return nil
	}
	var row []models.InlineKeyboardButton
	for _, b := range buttons {
		row = append(row, models.InlineKeyboardButton{Text: b.Label, CallbackData: pressData(k, b.Press)})
	}
	return models.InlineKeyboardMarkup{InlineKeyboard: [][]models.InlineKeyboardButton{row}}
}

// pressed translates a press of a button. It is an event whatever it says, so
// that it is answered; one that nobody here may make asks for nothing.
func (t *translator) pressed(a conversation.Arrival, raw json.RawMessage) (conversation.Arrival, bool) {
	var c callback
	if json.Unmarshal(raw, &c) != nil || c.ID == "" {
		t.skip(a.Update)
		return a, false
	}
	e := conversation.Pressed{Query: c.ID, Language: c.From.Language}
	a.Key = t.key(c.From.ID, 0)
	var m message
	if json.Unmarshal(c.Message, &m) == nil && m.ID != 0 && m.Chat.ID != 0 {
		a.Key, e.Message = t.key(m.Chat.ID, m.thread()), m.ID
		var data string
		if t.gate.admits(m.Chat) && !c.From.IsBot && json.Unmarshal(c.Data, &data) == nil {
			e.Press = readPress(a.Key, data)
		}
	}
	a.Event = e
	return a, true
}

// unbuttonTries is how often the bot tries to take a keyboard away.
const unbuttonTries = 3

// Unbutton implements [conversation.Channel].
func (b *Bot) Unbutton(ctx context.Context, to conversation.Key, id int64) error {
	return b.setKeyboard(ctx, to, id, nil)
}

// setKeyboard changes nothing but the buttons of a message. That they are as
// they are to be, or that there is no such message, is no error.
func (b *Bot) setKeyboard(ctx context.Context, to conversation.Key, id int64, markup models.ReplyMarkup) error {
	for try := 1; ; try++ {
		wait, _ := b.pace.left(to.Chat)
		rest(ctx, wait)
		_, err := b.api.sends.EditMessageReplyMarkup(ctx, &telegram.EditMessageReplyMarkupParams{
			ChatID: to.Chat, MessageID: int(id), ReplyMarkup: markup,
		})
		switch why := refusal(err); {
		case err == nil, says(why, notModified), says(why, notOurs):
			return nil
		case why != "", try == unbuttonTries, ctx.Err() != nil:
			return b.lookFailed(to, err)
		}
		_ = b.lookFailed(to, err)
		rest(ctx, time.Duration(try)*time.Second)
	}
}

// Answer implements [conversation.Channel]. A press that comes again after the
// answer to it was lost is answered again: Telegram says that it is too old
// then, or takes it.
func (b *Bot) Answer(ctx context.Context, query string, n conversation.Notice) error {
	params := &telegram.AnswerCallbackQueryParams{CallbackQueryID: query, Text: toastText(n)}
	for try := 1; ; try++ {
		_, err := b.api.sends.AnswerCallbackQuery(ctx, params)
		if err == nil {
			return nil
		}
		if refusal(err) != "" || try == unbuttonTries || ctx.Err() != nil {
			return b.explain(err)
		}
		rest(ctx, time.Duration(try)*time.Second)
	}
}
