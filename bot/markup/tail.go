package markup

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
	"github.com/rivo/uniseg"
)

const ellipsis = "…"

// Tail is the newest part of t within a number of units and the entity limits
// of a message: what a preview shows of an answer that has outgrown it. A tail
// that is not the whole begins with an ellipsis.
func Tail(t Text, most int) Text {
	total := UTF16Len(t.Text)
	if total <= most {
		return Text{Text: t.Text, Entities: newest(t.Entities, Message)}
	}
	if most < 2 {
		return Text{}
	}
	start := tailStart(t.Text, most-UTF16Len(ellipsis))
	text := strings.TrimLeft(t.Text[start:], space)
	shift := total - UTF16Len(text)
	out := Text{Text: ellipsis + text}
	for _, e := range t.Entities {
		end := e.Offset + e.Length - shift
		if end <= 0 {
			continue
		}
		from := max(e.Offset-shift, 0)
		e.Offset, e.Length = from+UTF16Len(ellipsis), end-from
		out.Entities = append(out.Entities, e)
	}
	out.Entities = newest(out.Entities, Message)
	return out
}

// tailStart is where the last units of s begin: at a character that is whole,
// and at a word or line if one begins soon behind.
func tailStart(s string, most int) int {
	start, left := len(s), most
	for start > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:start])
		if left -= units(r); left < 0 {
			break
		}
		start -= size
	}
	start = clusterStart(s, start)
	soon := s[start:min(len(s), start+most/8)]
	if i := strings.IndexByte(soon, '\n'); i >= 0 {
		return start + i
	}
	if i := strings.IndexByte(soon, ' '); i >= 0 {
		return start + i
	}
	return start
}

// clusterStart is the first boundary between characters at or after i. It looks
// at some text before i only: enough for any character but a hostile one.
func clusterStart(s string, i int) int {
	const lookBehind = 256
	at := max(0, i-lookBehind)
	for at > 0 && at < i && !utf8.RuneStart(s[at]) {
		at++
	}
	state, rest := -1, s[at:min(len(s), i+lookBehind)]
	for at < i && rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
	}
	return at
}

// newest keeps the last entities that fit into limits, in order.
func newest(es []models.MessageEntity, limits Limits) []models.MessageEntity {
	n, size := len(es), 0
	for n > 0 && len(es)-n < limits.Entities {
		if size += payload(es[n-1]); size > limits.Bytes {
			break
		}
		n--
	}
	return slices.Clone(es[n:])
}
