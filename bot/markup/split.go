package markup

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-telegram/bot/models"
	"github.com/rivo/uniseg"
)

// Limits bound one message; a zero field bounds nothing.
type Limits struct {
	Units    int // of text, in UTF-16 code units; at least 2, the size of an emoji
	Entities int
	Bytes    int // of entities as JSON
}

// Message is what Telegram takes in one message: 4096 units and 100 entities,
// of which more are ignored. Entities over about 9,500 bytes are refused with
// ENTITIES_TOO_LONG.
var Message = Limits{Units: 4096, Entities: 100, Bytes: 9000}

// Split cuts t into parts within limits, in order. It cuts between paragraphs if
// it can, else between lines, sentences or words, and only then between
// characters as a reader sees them. A part is never blank, and has no white
// space at its ends except the indentation of code. Entities over a cut go on
// in the next part. What exceeds limits at one place, such as an entity too
// large for any message, is dropped; text never is.
func (t Text) Split(limits Limits) []Text {
	s := newSplitter(t, limits)
	var parts []Text
	for s.skipSpace(); s.pos.bytes < len(s.text); s.skipSpace() {
		from := s.pos
		entities, bound := s.window()
		s.pos = s.cut(bound)
		if p := s.part(from, entities); p.Visible() {
			parts = append(parts, p)
		}
	}
	return parts
}

// splitter walks over a text.
type splitter struct {
	text   string
	limits Limits
	left   int                    // units from pos on
	pos    mark                   // the end of the last part
	open   []models.MessageEntity // reach over pos
	next   []models.MessageEntity // start at pos or later
}

func newSplitter(t Text, limits Limits) *splitter {
	s := &splitter{text: t.Text, limits: limits, next: slices.Clone(t.Entities)}
	sortEntities(s.next)
	s.left = UTF16Len(t.Text)
	return s
}

// skipSpace moves over the white space at a cut. Within a pre it spares the
// indentation of the next line.
func (s *splitter) skipSpace() {
	start := s.pos
	spare := s.pos
	for s.pos.bytes < len(s.text) && isSpace(s.text[s.pos.bytes]) {
		s.pos.bytes++
		s.pos.units++
		if s.text[s.pos.bytes-1] == '\n' {
			spare = s.pos
		}
	}
	atLine := spare.bytes == 0 || s.text[spare.bytes-1] == '\n'
	if atLine && s.pos.bytes < len(s.text) && s.inPre(spare.units) {
		s.pos = spare
	}
	s.left -= s.pos.units - start.units
	s.advance()
}

func (s *splitter) inPre(at int) bool {
	covers := func(e models.MessageEntity) bool {
		return e.Type == models.MessageEntityTypePre && e.Offset <= at && at < e.Offset+e.Length
	}
	if slices.ContainsFunc(s.open, covers) {
		return true
	}
	for _, e := range s.next {
		if e.Offset > at {
			break
		}
		if covers(e) {
			return true
		}
	}
	return false
}

// advance sorts the entities anew around pos.
func (s *splitter) advance() {
	n := 0
	for n < len(s.next) && s.next[n].Offset < s.pos.units {
		n++
	}
	s.open = append(s.open, s.next[:n]...)
	s.next = s.next[n:]
	s.open = slices.DeleteFunc(s.open, func(e models.MessageEntity) bool { return e.Offset+e.Length <= s.pos.units })
}

// window picks the entities of the part that begins at pos, and the unit that
// it must not reach beyond because the next entity would be one too many.
func (s *splitter) window() (entities []models.MessageEntity, bound int) {
	bound = s.pos.units + s.left
	if s.limits.Units > 0 {
		bound = min(bound, s.pos.units+s.reach())
	}
	size := 0
	fits := func(e models.MessageEntity) bool {
		size += payload(e)
		return (s.limits.Bytes <= 0 || size <= s.limits.Bytes) &&
			(s.limits.Entities <= 0 || len(entities) < s.limits.Entities)
	}
	add := func(e models.MessageEntity) bool {
		before := size
		if fits(e) {
			entities = append(entities, e)
			return true
		}
		size = before
		return false
	}
	for _, e := range s.open {
		add(e)
	}
	soon := s.pos.units + UTF16Len(s.character())
	for _, e := range s.next {
		if e.Offset >= bound {
			break
		}
		alone := s.limits.Bytes > 0 && payload(e) > s.limits.Bytes
		if !add(e) && !alone && e.Offset >= soon {
			return entities, e.Offset
		}
	}
	return entities, bound
}

// character is the one that the next part begins with, as a reader sees it. An
// entity that begins within it is no reason to cut it.
func (s *splitter) character() string {
	text := s.text[s.pos.bytes:]
	if s.limits.Units > 0 {
		text = text[:min(len(text), utf8.UTFMax*s.limits.Units)]
	}
	first, _, _, _ := uniseg.FirstGraphemeClusterInString(text, -1)
	return first
}

// reach is how many units the next part may have: the limit, or less if only a
// scrap would be left for the last part.
func (s *splitter) reach() int {
	limit := s.limits.Units
	scrap := limit / 8
	if s.left > limit && s.left-limit < scrap {
		return s.left - scrap
	}
	return limit
}

// cut is the best place to end a part that must not reach beyond bound, the
// white space at it left to the caller.
func (s *splitter) cut(bound int) mark {
	end := s.pos
	for end.bytes < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end.bytes:])
		if end.units+units(r) > bound && end != s.pos {
			break
		}
		end.bytes += size
		end.units += units(r)
	}
	if end.bytes < len(s.text) {
		_, size := utf8.DecodeRuneInString(s.text[end.bytes:])
		n := bestBreak(s.text[s.pos.bytes:end.bytes+size], end.bytes-s.pos.bytes)
		end = mark{s.pos.bytes + n, s.pos.units + UTF16Len(s.text[s.pos.bytes:s.pos.bytes+n])}
	}
	s.left -= end.units - s.pos.units
	return end
}

// part is the text from there to pos with its entities.
func (s *splitter) part(from mark, entities []models.MessageEntity) Text {
	text := s.text[from.bytes:s.pos.bytes]
	if !slices.ContainsFunc(entities, func(e models.MessageEntity) bool { return e.Offset <= from.units }) {
		lead := len(text) - len(strings.TrimLeft(text, space)) // indentation whose pre found no room
		text = text[lead:]
		from.units += lead
	}
	p := Text{Text: strings.TrimRight(text, space)}
	length := UTF16Len(p.Text)
	for _, e := range entities {
		start, end := max(e.Offset-from.units, 0), min(e.Offset+e.Length-from.units, length)
		if start < end {
			e.Offset, e.Length = start, end-start
			p.Entities = append(p.Entities, e)
		}
	}
	sortEntities(p.Entities)
	return p
}
