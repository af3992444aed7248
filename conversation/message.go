package conversation

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Key names a conversation: one chat, or one topic of a forum chat, as one bot
// identity of one channel sees it.
type Key struct {
	Channel string // "telegram"
	Bot     int64  // the bot's identity in the channel, so that two bots can share a store
	Chat    int64
	Thread  int64 // 0 outside of forum topics, and for the General topic
}

// String is the form a key has in the store and in logs:
// channel/bot/chat/thread.
func (k Key) String() string { return string(k.Append(make([]byte, 0, 64))) }

// Append appends that form to a buffer. A store makes several keys of its
// records of each.
func (k Key) Append(b []byte) []byte {
	b = append(append(b, k.Channel...), '/')
	b = append(strconv.AppendInt(b, k.Bot, 10), '/')
	b = append(strconv.AppendInt(b, k.Chat, 10), '/')
	return strconv.AppendInt(b, k.Thread, 10)
}

// Identity is what the keys of one bot identity begin with, "telegram/42/".
func (k Key) Identity() string { return k.Channel + "/" + strconv.FormatInt(k.Bot, 10) + "/" }

// ParseKey reads what [Key.String] writes, and nothing else: two forms of a key
// would be two conversations.
func ParseKey(s string) (Key, error) {
	fields := strings.Split(s, "/")
	if len(fields) != 4 || fields[0] == "" {
		return Key{}, fmt.Errorf("conversation key %q is not channel/bot/chat/thread", s)
	}
	var n [3]int64
	for i, f := range fields[1:] {
		var err error
		if n[i], err = strconv.ParseInt(f, 10, 64); err != nil {
			return Key{}, fmt.Errorf("conversation key %q is not channel/bot/chat/thread: %w", s, err)
		}
	}
	k := Key{Channel: fields[0], Bot: n[0], Chat: n[1], Thread: n[2]}
	if k.String() != s {
		return Key{}, fmt.Errorf("conversation key %q should be %q", s, k.String())
	}
	return k, nil
}

// Version counts every change of a conversation's input context: a new
// message, a real edit, a deletion, a reset. It only grows.
type Version uint64

// Generation counts every permitted start of a model call of a conversation.
type Generation uint64

// Source is where a message came from: the chat and the message's id in it. The
// chat is not always the key's: a group that became a supergroup has another.
type Source struct {
	Chat int64 `json:"chat"`
	ID   int64 `json:"id"`
}

// Author is who wrote a message. Names are shown to the model in groups.
type Author struct {
	ID   int64  `json:"id"`
	Name string `json:"name,omitempty"`
}

// Content is what a person sent, as far as it can be read.
type Content struct {
	Text       string `json:"text,omitempty"`       // text or caption, as typed
	Attachment string `json:"attachment,omitempty"` // what came with it and cannot be read yet: "photo", "voice message, 3 s"
	Quote      string `json:"quote,omitempty"`      // the text that the message replies to or quotes
	Quoted     string `json:"quoted,omitempty"`     // whose text that is
	Forward    string `json:"forward,omitempty"`    // whom a forwarded message is from
}

// Hash tells contents apart. Telegram announces edits that change nothing a
// person could read, for link previews and reactions: their hash is the same.
func (c Content) Hash() string {
	var b []byte
	for _, s := range []string{c.Text, c.Attachment, c.Quote, c.Quoted, c.Forward} {
		b = append(strconv.AppendInt(b, int64(len(s)), 10), ':') // no two contents read alike
		b = append(b, s...)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:12])
}

// Message is one message of a user that the bot accepted.
type Message struct {
	Version Version   `json:"version"`          // of the context when the message joined it; its place in the store
	Changed Version   `json:"changed"`          // of the context when its content changed last
	Source  Source    `json:"source"`           //
	Author  Author    `json:"author"`           //
	Content Content   `json:"content"`          //
	Sent    time.Time `json:"sent"`             // when the channel says it was sent
	Edited  bool      `json:"edited,omitempty"` //
}

// inOrder compares messages by the order in which they were sent. Updates can
// overtake each other; the ids that a chat gives to its messages cannot. Across
// a migration, which starts the ids anew, the order of arrival decides.
func inOrder(a, b Message) int {
	if a.Source.Chat != b.Source.Chat {
		return cmp.Compare(a.Version, b.Version)
	}
	return cmp.Compare(a.Source.ID, b.Source.ID)
}
