package bot

import (
	"encoding/json"
	"strings"
	"unicode/utf16"
)

// The parts of Telegram's objects that the bot looks at. The library's types
// are not used for what arrives: they fail as a whole when a part that nobody
// here reads has an unexpected form. Of a message only what says where it
// belongs must be as documented; everything else is looked up by name, and
// counts as absent if it makes no sense.

type update struct {
	ID       int64           `json:"update_id"`
	Message  json.RawMessage `json:"message"`
	Edited   json.RawMessage `json:"edited_message"`
	Callback json.RawMessage `json:"callback_query"`
	Stopped  json.RawMessage `json:"stopped_message_generation"`
	Member   json.RawMessage `json:"my_chat_member"`
}

type user struct {
	ID        int64  `json:"id"`
	IsBot     bool   `json:"is_bot"`
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	Username  string `json:"username"`
	Language  string `json:"language_code"`
}

// name is what people see, on one line.
func (u user) name() string {
	if n := oneLine(u.FirstName + " " + u.LastName); n != "" {
		return n
	}
	if u.Username != "" {
		return "@" + u.Username
	}
	return "somebody"
}

type chat struct {
	ID             int64  `json:"id"`
	Type           string `json:"type"`
	Title          string `json:"title"`
	FirstName      string `json:"first_name"`
	LastName       string `json:"last_name"`
	Username       string `json:"username"`
	DirectMessages bool   `json:"is_direct_messages"` // of a channel; sending there needs more than a chat id
}

func (c chat) private() bool { return c.Type == "private" }
func (c chat) group() bool {
	return (c.Type == "group" || c.Type == "supergroup") && !c.DirectMessages
}

func (c chat) name() string {
	if t := oneLine(c.Title); t != "" {
		return t
	}
	return user{FirstName: c.FirstName, LastName: c.LastName, Username: c.Username}.name()
}

type entity struct {
	Type   string `json:"type"`
	Offset int    `json:"offset"` // UTF-16 units
	Length int    `json:"length"`
	User   *user  `json:"user"`
}

// of cuts the text that an entity marks out of the message's text.
func (e entity) of(units []uint16) string {
	if e.Offset < 0 || e.Length < 0 || e.Offset > len(units) || e.Length > len(units)-e.Offset {
		return ""
	}
	return string(utf16.Decode(units[e.Offset : e.Offset+e.Length]))
}

type message struct {
	ID   int64 `json:"message_id"`
	Date int64 `json:"date"`
	Chat chat  `json:"chat"`

	fields map[string]json.RawMessage
}

func (m *message) UnmarshalJSON(data []byte) error {
	type plain message
	if err := json.Unmarshal(data, (*plain)(m)); err != nil {
		return err
	}
	return json.Unmarshal(data, &m.fields)
}

// has reports whether a message has a field.
func (m *message) has(field string) bool {
	raw, ok := m.fields[field]
	return ok && string(raw) != "null"
}

// field reads a field of a message; the zero value if it is absent or makes no
// sense.
func field[T any](m *message, name string) T {
	var v, zero T
	if raw, ok := m.fields[name]; !ok || json.Unmarshal(raw, &v) != nil {
		return zero
	}
	return v
}

func (m *message) from() *user         { return field[*user](m, "from") }
func (m *message) replied() *message   { return field[*message](m, "reply_to_message") }
func (m *message) text() string        { return field[string](m, "text") }
func (m *message) caption() string     { return field[string](m, "caption") }
func (m *message) entities() []entity  { return field[[]entity](m, "entities") }
func (m *message) captioned() []entity { return field[[]entity](m, "caption_entities") }

// thread is the topic of a message. Replies in groups without topics carry a
// message_thread_id too; 1 is the General topic, which cannot be sent to by id.
func (m *message) thread() int64 {
	id := field[int64](m, "message_thread_id")
	if !field[bool](m, "is_topic_message") || id == 1 {
		return 0
	}
	return id
}

// body is the text that a person typed: text, caption, or a rich message.
func (m *message) body() string {
	if t := m.text(); t != "" {
		return t
	}
	if t := m.caption(); t != "" {
		return t
	}
	if rich, ok := m.fields["rich_message"]; ok {
		return richText(rich)
	}
	return ""
}

type callback struct {
	ID      string          `json:"id"`
	From    user            `json:"from"`
	Message json.RawMessage `json:"message"` // with the button; only its chat and id if it is too old
	Data    json.RawMessage `json:"data"`
}

type membership struct {
	Chat chat `json:"chat"`
	New  struct {
		Status  string `json:"status"`
		User    user   `json:"user"`
		CanSend bool   `json:"can_send_messages"` // if restricted
	} `json:"new_chat_member"`
}

// oneLine makes a name of what may hold line breaks and control characters.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
	return clip(strings.Join(strings.Fields(s), " "), 100)
}
