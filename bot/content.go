package bot

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lastword/conversation"
)

// What a message says: its text, what it quotes, whom it is from, and the name
// of what cannot be read here.

// mostQuote bounds a quoted text, in runes: the model has seen most of it.
const mostQuote = 1000

// content reads a message. It is false if a person said nothing with it: it
// tells of a change in the chat, such as a new member or title.
func (t *translator) content(m *message) (conversation.Content, bool) {
	c := conversation.Content{Text: m.body(), Attachment: attachment(m)}
	if c.Text == "" && c.Attachment == "" {
		if slices.ContainsFunc(services, m.has) {
			return c, false
		}
		c.Attachment = "unsupported message"
	}
	c.Quote, c.Quoted = t.quote(m)
	c.Forward = forwarded(m)
	return c, true
}

// quote is what a message replies to: the piece that the person marked, or the
// whole text.
func (t *translator) quote(m *message) (text, whose string) {
	text = field[struct {
		Text string `json:"text"`
	}](m, "quote").Text
	r := m.replied()
	if r != nil && topicStart(r) {
		r = nil
	}
	if r != nil {
		whose = t.whose(m, r)
		if text == "" {
			text = r.body()
		}
		if a := attachment(r); text == "" && a != "" {
			text = "[" + a + "]"
		}
	} else if m.has("external_reply") {
		whose = origin(field[struct {
			Origin originator `json:"origin"`
		}](m, "external_reply").Origin)
	}
	if text == "" {
		return "", ""
	}
	return clip(text, mostQuote), whose
}

// topicStart tells the service message that created a topic. What is written
// in the topic formally replies to it.
func topicStart(m *message) bool { return m.has("forum_topic_created") }

// whose names the author of a quoted message, as the model should see it.
func (t *translator) whose(m, r *message) string {
	from := r.from()
	switch {
	case from != nil && from.ID == t.bot:
		return "you"
	case r.has("sender_chat"):
		return field[chat](r, "sender_chat").name()
	case from == nil:
		return ""
	}
	if asker := m.from(); m.Chat.private() && asker != nil && asker.ID == from.ID {
		return ""
	}
	return from.name()
}

// originator is where a forwarded message comes from.
type originator struct {
	Type       string `json:"type"`
	User       *user  `json:"sender_user"`
	HiddenName string `json:"sender_user_name"`
	SenderChat *chat  `json:"sender_chat"`
	Channel    *chat  `json:"chat"`
	Signature  string `json:"author_signature"`
}

func origin(o originator) string {
	var name string
	switch {
	case o.User != nil:
		name = o.User.name()
	case o.HiddenName != "":
		name = oneLine(o.HiddenName)
	case o.SenderChat != nil:
		name = o.SenderChat.name()
	case o.Channel != nil:
		name = o.Channel.name()
	default:
		return "somebody"
	}
	if s := oneLine(o.Signature); s != "" {
		name += " (" + s + ")"
	}
	return name
}

func forwarded(m *message) string {
	if !m.has("forward_origin") {
		return ""
	}
	return origin(field[originator](m, "forward_origin"))
}

// media is what is looked at of any attachment.
type media struct {
	Duration  int64   `json:"duration"` // seconds
	FileName  string  `json:"file_name"`
	Title     string  `json:"title"`
	Performer string  `json:"performer"`
	Emoji     string  `json:"emoji"`
	Value     int     `json:"value"`
	Question  string  `json:"question"`
	FirstName string  `json:"first_name"`
	LastName  string  `json:"last_name"`
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

func (a media) seconds() string {
	if a.Duration <= 0 {
		return ""
	}
	return fmt.Sprintf(", %d s", a.Duration)
}

// attachments name what a message can carry beside text. Some carry another
// one for old clients: the first that is there counts.
var attachments = []struct {
	field string
	name  func(media) string
}{
	{"animation", func(media) string { return "animation" }},
	{"live_photo", func(media) string { return "live photo" }},
	{"photo", nil},
	{"voice", func(a media) string { return "voice message" + a.seconds() }},
	{"audio", func(a media) string { return "audio" + a.seconds() + about(a.Performer+" "+a.Title) }},
	{"video", func(a media) string { return "video" + a.seconds() }},
	{"video_note", func(a media) string { return "video message" + a.seconds() }},
	{"document", func(a media) string { return "document" + about(a.FileName) }},
	{"sticker", func(a media) string { return strings.TrimSpace("sticker " + oneLine(a.Emoji)) }},
	{"paid_media", func(media) string { return "paid media" }},
	{"story", func(media) string { return "story" }},
	{"venue", func(a media) string { return "place" + about(a.Title) }},
	{"location", func(a media) string { return fmt.Sprintf("location %.5f, %.5f", a.Latitude, a.Longitude) }},
	{"contact", func(a media) string { return "contact" + about(a.FirstName+" "+a.LastName) }},
	{"poll", func(a media) string { return "poll" + about(a.Question) }},
	{"dice", func(a media) string { return fmt.Sprintf("dice %s, %d", oneLine(a.Emoji), a.Value) }},
	{"checklist", func(a media) string { return "checklist" + about(a.Title) }},
	{"game", func(a media) string { return "game" + about(a.Title) }},
	{"invoice", func(a media) string { return "invoice" + about(a.Title) }},
	{"giveaway", func(media) string { return "giveaway" }},
	{"giveaway_winners", func(media) string { return "winners of a giveaway" }},
}

func about(what string) string {
	if what = oneLine(what); what != "" {
		return ", " + what
	}
	return ""
}

// attachment names what came with a message, "" if nothing did.
func attachment(m *message) string {
	for _, a := range attachments {
		switch {
		case !m.has(a.field):
		case a.name == nil: // a list of sizes
			return a.field
		default:
			return a.name(field[media](m, a.field))
		}
	}
	return ""
}

// services are the fields of messages that tell of a change instead of saying
// something. A kind that is missing here is shown to the model as unsupported.
var services = []string{
	"new_chat_members", "new_chat_member", "new_chat_participant", "left_chat_member", "left_chat_participant",
	"new_chat_title", "new_chat_photo", "delete_chat_photo", "group_chat_created", "supergroup_chat_created",
	"channel_chat_created", "message_auto_delete_timer_changed", "migrate_to_chat_id", "migrate_from_chat_id",
	"pinned_message", "successful_payment", "refunded_payment", "users_shared", "chat_shared", "gift", "unique_gift",
	"gift_upgrade_sent", "connected_website", "write_access_allowed", "passport_data", "proximity_alert_triggered",
	"boost_added", "chat_background_set", "checklist_tasks_done", "checklist_tasks_added",
	"direct_message_price_changed", "forum_topic_created", "forum_topic_edited", "forum_topic_closed",
	"forum_topic_reopened", "general_forum_topic_hidden", "general_forum_topic_unhidden", "giveaway_created",
	"giveaway_completed", "paid_message_price_changed", "chat_owner_left", "chat_owner_changed",
	"community_chat_added", "community_chat_joined", "community_chat_removed", "suggested_post_approved",
	"suggested_post_approval_failed", "suggested_post_declined", "suggested_post_paid", "suggested_post_refunded",
	"video_chat_scheduled", "video_chat_started", "video_chat_ended", "video_chat_participants_invited",
	"web_app_data", "managed_bot_created", "poll_option_added", "poll_option_deleted",
}

// mostRich is the longest rich message, in characters (Bot API 10.1).
const mostRich = 32768

// richText is the plain text of a rich message, whatever its blocks are: the
// kinds grow with every version of the Bot API.
func richText(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return ""
	}
	var b strings.Builder
	walkRich(&b, v, false)
	lines := strings.FieldsFunc(b.String(), func(r rune) bool { return r == '\n' })
	return clip(strings.TrimSpace(strings.Join(lines, "\n")), mostRich)
}

// walkRich writes what stands in the fields that hold text; the others hold
// types, links and ids. A block ends its line, a piece of inline text does not.
func walkRich(b *strings.Builder, v any, inline bool) {
	switch v := v.(type) {
	case string:
		if inline {
			b.WriteString(v)
		}
	case []any:
		for _, e := range v {
			walkRich(b, e, inline)
		}
	case map[string]any:
		if label, ok := v["label"].(string); ok {
			b.WriteString(label + " ")
		}
		walkRich(b, v["text"], true)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if _, word := v[k].(string); k != "text" && !word {
				walkRich(b, v[k], false)
			}
		}
		if !inline {
			b.WriteByte('\n')
		}
	}
}
