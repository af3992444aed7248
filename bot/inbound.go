package bot

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode/utf16"

	"lastword/conversation"
)

// Channel is the name of this channel in conversation keys.
const Channel = "telegram"

// How long a message waits for what belongs to it.
const (
	splitLength = 3500                    // UTF-16 units: clients cut a long text at 4096 or at a space before
	splitHold   = 1500 * time.Millisecond // until the next piece
	albumHold   = time.Second             // photos of an album are messages of their own; so is the comment on a forward
)

// anonymousAdmin is the account that Telegram gives as the author of what
// anonymous administrators of groups write.
const anonymousAdmin = 1087968824

// translator makes events of updates. It belongs to the goroutine that polls.
type translator struct {
	bot      int64
	username string // without @
	gate     *gate
	log      *slog.Logger
}

// batch translates what one poll has brought. An update that makes no sense is
// told by its number, costs nothing else, and is confirmed with the rest. An
// error means that the batch has to come again.
func (t *translator) batch(raw []json.RawMessage, offset int64) (conversation.Batch, error) {
	b := conversation.Batch{Identity: t.key(0, 0).Identity(), Offset: offset}
	for _, r := range raw {
		a, ok, err := t.update(r)
		if err != nil {
			return b, err
		}
		if ok {
			b.Arrivals = append(b.Arrivals, a)
		}
	}
	return b, nil
}

func (t *translator) key(chat, thread int64) conversation.Key {
	return conversation.Key{Channel: Channel, Bot: t.bot, Chat: chat, Thread: thread}
}

// update translates one update; false if it is nothing for the engine.
func (t *translator) update(raw json.RawMessage) (a conversation.Arrival, ok bool, err error) {
	var u update
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("an update was skipped: translating it panicked", "update", u.ID, "err", fmt.Sprintf("%T", p))
			a, ok, err = conversation.Arrival{}, false, nil
		}
	}()
	if e := json.Unmarshal(raw, &u); e != nil {
		t.skip(u.ID)
		return a, false, nil
	}
	sum := sha256.Sum256(raw)
	a = conversation.Arrival{Update: u.ID, Digest: hex.EncodeToString(sum[:8])}
	switch {
	case u.Message != nil:
		return t.incoming(a, u.Message, false)
	case u.Edited != nil:
		return t.incoming(a, u.Edited, true)
	case u.Member != nil:
		return t.membership(a, u.Member)
	case u.Stopped != nil:
		a = t.stopped(a, u.Stopped)
		return a, a.Event != nil, nil
	case u.Callback != nil:
		a, ok = t.pressed(a, u.Callback)
		return a, ok, nil
	}
	return a, false, nil
}

func (t *translator) skip(id int64) {
	t.log.Warn("an update was skipped: it is not as the Bot API describes it", "update", id)
}

// incoming translates a message or its edit.
func (t *translator) incoming(a conversation.Arrival, raw json.RawMessage, edited bool) (conversation.Arrival, bool, error) {
	m := &message{}
	if json.Unmarshal(raw, m) != nil {
		t.skip(a.Update)
		return a, false, nil //nolint:nilerr // one bad update is skipped; the error could quote it
	}
	if m.ID == 0 || m.Chat.ID == 0 || !m.Chat.private() && !m.Chat.group() {
		return a, false, nil // a channel, or a message only one person sees
	}
	a.Key = t.key(m.Chat.ID, m.thread())
	a.Source = conversation.Source{Chat: m.Chat.ID, ID: m.ID}
	var err error
	if from, to := migration(m); from != 0 {
		if err = t.gate.moved(from, to); err != nil || !t.gate.admits(chat{ID: from, Type: "group"}) {
			return a, false, err
		}
		a.Key = t.key(from, 0)
		a.Event = conversation.Migrated{To: t.key(to, 0)}
		return a, true, nil
	}
	if a.Event, err = t.event(m, a.Update, edited); err != nil {
		return a, false, err
	}
	// A message that is nothing to the engine is still worth knowing of: ids
	// of private chats and basic groups come from one sequence.
	return a, a.Event != nil || sequence(m.Chat.ID) == 0 || t.gate.admits(m.Chat), nil
}

// migration tells from which chat to which a group moved; both announce it.
func migration(m *message) (from, to int64) {
	if to = field[int64](m, "migrate_to_chat_id"); to != 0 {
		return m.Chat.ID, to
	}
	return field[int64](m, "migrate_from_chat_id"), m.Chat.ID
}

// event is what a message is to the engine, nil for nothing.
func (t *translator) event(m *message, updateID int64, edited bool) (conversation.Event, error) {
	author, language, ok := t.author(m)
	if !ok {
		return nil, nil
	}
	content, ok := t.content(m)
	if !ok {
		return nil, nil
	}
	cmd := t.command(m)
	if cmd.foreign {
		return nil, nil
	}
	r := request{message: m, update: updateID, author: author.ID, language: language, command: cmd, addressed: t.addressed(m, cmd)}
	if !t.gate.admits(m.Chat) {
		if edited {
			return nil, nil
		}
		return t.gate.stranger(r)
	}
	in := conversation.Incoming{
		Message: conversation.Message{
			Source: conversation.Source{Chat: m.Chat.ID, ID: m.ID}, Author: author, Content: content, Sent: sentAt(m.Date),
		},
		Language: language, Group: !m.Chat.private(), Addressed: r.addressed, Hold: hold(m, content),
	}
	switch {
	case edited:
		// An edit never is a command, and one that reads like a command does
		// not start to be input.
		in.Hold = 0
		in.Addressed = in.Addressed && cmd.name == ""
		return conversation.Edited{Incoming: in}, nil
	case cmd.name != "":
		return t.execute(r)
	}
	return in, nil
}

// hold is how long to wait for what belongs to a message.
func hold(m *message, c conversation.Content) time.Duration {
	switch {
	case len(utf16.Encode([]rune(c.Text))) >= splitLength:
		return splitHold
	case m.has("media_group_id"), m.has("forward_origin"):
		return albumHold
	}
	return 0
}

// author is the person behind a message; false if there is none: a bot wrote
// it, a channel, or another bot made it for them.
func (t *translator) author(m *message) (conversation.Author, string, bool) {
	from := m.from()
	switch {
	case from == nil, m.has("via_bot"), m.has("sender_business_bot"), m.has("business_connection_id"), field[bool](m, "is_automatic_forward"):
		return conversation.Author{}, "", false
	case m.has("sender_chat"):
		sender := field[chat](m, "sender_chat")
		if sender.ID != m.Chat.ID || from.ID != anonymousAdmin {
			return conversation.Author{}, "", false
		}
		return conversation.Author{ID: sender.ID, Name: "anonymous admin"}, "", true
	case from.IsBot:
		return conversation.Author{}, "", false
	}
	return conversation.Author{ID: from.ID, Name: from.name()}, from.Language, true
}

// addressed reports whether a message is meant for the bot.
func (t *translator) addressed(m *message, cmd command) bool {
	if m.Chat.private() || cmd.name != "" || cmd.named {
		return true
	}
	if r := m.replied(); r != nil && !topicStart(r) {
		if from := r.from(); from != nil && from.ID == t.bot {
			return true
		}
	}
	return t.mentioned(m.text(), m.entities()) || t.mentioned(m.caption(), m.captioned())
}

// mentioned looks for the bot's name among the entities of a text. Their
// offsets count UTF-16 units: an emoji is two.
func (t *translator) mentioned(text string, entities []entity) bool {
	if len(entities) == 0 {
		return false
	}
	units := utf16.Encode([]rune(text))
	for _, e := range entities {
		switch e.Type {
		case "mention":
			if t.username != "" && strings.EqualFold(e.of(units), "@"+t.username) {
				return true
			}
		case "text_mention":
			if e.User != nil && e.User.ID == t.bot {
				return true
			}
		}
	}
	return false
}

// membership translates what happened to the bot's own place in a chat.
func (t *translator) membership(a conversation.Arrival, raw json.RawMessage) (conversation.Arrival, bool, error) {
	var m membership
	if json.Unmarshal(raw, &m) != nil || m.Chat.ID == 0 {
		t.skip(a.Update)
		return a, false, nil //nolint:nilerr // one bad update is skipped; the error could quote it
	}
	if m.New.User.ID != t.bot || !m.Chat.private() && !m.Chat.group() || !t.gate.admits(m.Chat) {
		return a, false, nil
	}
	a.Key = t.key(m.Chat.ID, 0)
	switch m.New.Status {
	case "kicked", "left":
		a.Event = conversation.Left{}
	case "restricted":
		a.Event = conversation.Left{}
		if m.New.CanSend {
			a.Event = conversation.Returned{}
		}
	case "member", "administrator", "creator":
		a.Event = conversation.Returned{}
	default:
		return a, false, nil
	}
	return a, true, nil
}

// sentAt is the time of a message. One that no calendar knows is none.
func sentAt(unix int64) time.Time {
	const year9999 = 253402300799
	if unix < 0 || unix > year9999 {
		return time.Time{}
	}
	return time.Unix(unix, 0)
}
