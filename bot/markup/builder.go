package markup

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
)

// mark is a place in the text of a builder.
type mark struct{ bytes, units int }

// builder collects text and entities.
type builder struct {
	text     []byte
	units    int
	entities []models.MessageEntity
	code     [][2]mark // ranges of code and pre: styles end before and go on after them
}

func (b *builder) mark() mark { return mark{len(b.text), b.units} }

func (b *builder) write(s string) {
	b.text = append(b.text, s...)
	b.units += UTF16Len(s)
}

// since is what was written after m.
func (b *builder) since(m mark) string { return string(b.text[m.bytes:]) }

// atLineStart reports whether the next character begins a line.
func (b *builder) atLineStart() bool {
	return len(b.text) == 0 || b.text[len(b.text)-1] == '\n'
}

// end adds the entity e over what was written since m.
func (b *builder) end(e models.MessageEntity, m mark) {
	to := b.mark()
	switch e.Type {
	case models.MessageEntityTypeCode, models.MessageEntityTypePre:
		b.code = append(b.code, [2]mark{m, to})
		b.add(e, m, to)
	case models.MessageEntityTypeTextLink, models.MessageEntityTypeBlockquote, models.MessageEntityTypeExpandableBlockquote:
		b.add(e, m, to)
	default:
		// Telegram allows no style around code: it gets the text beside the code.
		first, _ := slices.BinarySearchFunc(b.code, m, func(c [2]mark, m mark) int { return cmp.Compare(c[1].bytes, m.bytes) })
		for _, c := range b.code[first:] {
			if c[0].bytes > m.bytes {
				b.add(e, m, c[0])
			}
			m = c[1]
		}
		b.add(e, m, to)
	}
}

// add appends e over [from, to) without the white space at its edges, which
// Telegram would cut off. The indentation of the first line of a pre stays,
// also in a quote.
func (b *builder) add(e models.MessageEntity, from, to mark) {
	edge := space
	switch e.Type {
	case models.MessageEntityTypePre, models.MessageEntityTypeBlockquote, models.MessageEntityTypeExpandableBlockquote:
		edge = "\n"
	}
	for from.bytes < to.bytes && strings.IndexByte(edge, b.text[from.bytes]) >= 0 {
		from.bytes++
		from.units++
	}
	for from.bytes < to.bytes && isSpace(b.text[to.bytes-1]) {
		to.bytes--
		to.units--
	}
	if from.units >= to.units || !visible(string(b.text[from.bytes:to.bytes])) {
		return
	}
	e.Offset, e.Length = from.units, to.units-from.units
	b.entities = append(b.entities, e)
}

// result is the finished text: trimmed at its ends as Telegram does it, so that
// offsets count from what is shown.
func (b *builder) result() Text {
	text := strings.TrimRight(string(b.text), space)
	total := UTF16Len(text)
	entities := slices.DeleteFunc(b.entities, func(e models.MessageEntity) bool { return e.Offset >= total })
	sortEntities(entities)
	lead := len(text) - len(strings.TrimLeft(text, space))
	if len(entities) > 0 {
		lead = min(lead, entities[0].Offset) // an indented pre at the start
	}
	for i := range entities {
		entities[i].Offset -= lead
	}
	if len(entities) == 0 {
		entities = nil
	}
	return Text{Text: text[lead:], Entities: entities}
}

// sortEntities orders by offset, the longer first, so that an outer entity
// comes before what it contains.
func sortEntities(es []models.MessageEntity) {
	slices.SortStableFunc(es, func(a, b models.MessageEntity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length),
			cmp.Compare(rank(a.Type), rank(b.Type)), cmp.Compare(a.Type, b.Type))
	})
}

// rank orders entities over the same text: a quote contains all others, code
// none.
func rank(t models.MessageEntityType) int {
	switch t {
	case models.MessageEntityTypeBlockquote, models.MessageEntityTypeExpandableBlockquote:
		return 0
	case models.MessageEntityTypeCode, models.MessageEntityTypePre:
		return 2
	}
	return 1
}

// runeBefore and runeAt read a character beside position i of source; a
// newline stands for the outside.
func runeBefore(source []byte, i int) rune {
	if i <= 0 {
		return '\n'
	}
	r, _ := utf8.DecodeLastRune(source[:i])
	return r
}

func runeAt(source []byte, i int) rune {
	if i < 0 || i >= len(source) {
		return '\n'
	}
	r, _ := utf8.DecodeRune(source[i:])
	return r
}

// truncate takes back what was written since m.
func (b *builder) truncate(m mark) {
	b.text, b.units = b.text[:m.bytes], m.units
	for len(b.entities) > 0 && b.entities[len(b.entities)-1].Offset >= m.units {
		b.entities = b.entities[:len(b.entities)-1]
	}
	for len(b.code) > 0 && b.code[len(b.code)-1][0].bytes >= m.bytes {
		b.code = b.code[:len(b.code)-1]
	}
}
