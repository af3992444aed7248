package markup

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/go-telegram/bot/models"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// compact writes entities like "bold 3:4, pre(go) 8:10, text_link(https://a.b) 0:2".
func compact(es []models.MessageEntity) string {
	var out []string
	for _, e := range es {
		arg := e.URL + e.Language
		if arg != "" {
			arg = "(" + arg + ")"
		}
		out = append(out, fmt.Sprintf("%s%s %d:%d", e.Type, arg, e.Offset, e.Length))
	}
	return strings.Join(out, ", ")
}

// problem is what Telegram would object to in t; "" if nothing.
func problem(t Text) string {
	text := utf16.Encode([]rune(t.Text))
	middle := func(i int) bool {
		return i > 0 && i < len(text) && text[i] >= 0xdc00 && text[i] < 0xe000 && text[i-1] >= 0xd800 && text[i-1] < 0xdc00
	}
	last := models.MessageEntity{Length: len(text) + 1}
	for _, e := range t.Entities {
		end := e.Offset + e.Length
		switch {
		case e.Length <= 0 || e.Offset < 0 || end > len(text):
			return fmt.Sprintf("%v is empty or leaves the text of %d units", compact([]models.MessageEntity{e}), len(text))
		case middle(e.Offset) || middle(end):
			return compact([]models.MessageEntity{e}) + " cuts a surrogate pair"
		case e.Offset < last.Offset || e.Offset == last.Offset && e.Length > last.Length:
			return "not sorted: " + compact(t.Entities)
		}
		last = e
	}
	for i, a := range t.Entities {
		for _, b := range t.Entities[i+1:] {
			if b.Offset >= a.Offset+a.Length {
				break
			}
			if b.Offset+b.Length > a.Offset+a.Length || !mayContain(a.Type, b.Type) {
				return "bad nesting: " + compact([]models.MessageEntity{a, b})
			}
		}
	}
	return ""
}

// mayContain is Telegram's rule of nesting.
func mayContain(outer, inner models.MessageEntityType) bool {
	class := func(t models.MessageEntityType) string {
		switch t {
		case models.MessageEntityTypeCode, models.MessageEntityTypePre:
			return "code"
		case models.MessageEntityTypeTextLink:
			return "link"
		case models.MessageEntityTypeBlockquote, models.MessageEntityTypeExpandableBlockquote:
			return "quote"
		}
		return "style"
	}
	switch class(outer) + " " + class(inner) {
	case "code code", "code link", "code quote", "code style", "style code", "link code", "link link", "link quote", "quote quote":
		return false
	}
	return outer != inner
}

// overLimit tells how t exceeds limits; "" if it does not.
func overLimit(t Text, limits Limits) string {
	size := 0
	for _, e := range t.Entities {
		b, _ := json.Marshal(e)
		size += len(b) + 1
	}
	switch n := UTF16Len(t.Text); {
	case limits.Units > 0 && n > limits.Units:
		return fmt.Sprintf("%d units", n)
	case limits.Entities > 0 && len(t.Entities) > limits.Entities:
		return fmt.Sprintf("%d entities", len(t.Entities))
	case limits.Bytes > 0 && size > limits.Bytes:
		return fmt.Sprintf("%d bytes of entities", size)
	}
	return ""
}
