package markup

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
)

// Text is text with Telegram entities. Offsets and lengths of the entities
// count UTF-16 code units.
type Text struct {
	Text     string
	Entities []models.MessageEntity
}

// Plain is s without formatting: cleaned and trimmed as Telegram would do it.
func Plain(s string) Text {
	return Text{Text: strings.Trim(clean(s), space)}
}

// Visible reports whether t has anything to see; Telegram refuses a message
// that has not.
func (t Text) Visible() bool { return visible(t.Text) }

// UTF16Len is the length of s in UTF-16 code units, Telegram's unit of text.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n += units(r)
	}
	return n
}

// space is what Telegram trims at the ends of a message.
const space = " \n\t"

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

func units(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// clean makes s valid UTF-8 with newlines as the only line ends, without
// control characters: Telegram refuses the former and drops the latter, which
// would shift the entities behind them.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if !strings.ContainsFunc(s, isControl) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case isControl(r):
			return -1
		}
		return r
	}, s)
}

func isControl(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// visible reports whether s has a character that leaves ink.
func visible(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return !isInvisible(r) })
}

func isInvisible(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' '
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// payload is the size of an entity in a request.
func payload(e models.MessageEntity) int {
	b, err := json.Marshal(e)
	if err != nil {
		return len(e.URL) + 256
	}
	return len(b) + 1 // the comma
}
