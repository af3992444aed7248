package markup

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/go-telegram/bot/models"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// styled is inline content under a style.
type styled struct {
	ast.BaseInline
	entity models.MessageEntityType
}

var kindStyled = ast.NewNodeKind("Styled")

func (n *styled) Kind() ast.NodeKind            { return kindStyled }
func (n *styled) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// style is a pair of delimiters: what one and what two of them mean.
type style struct {
	char        byte
	one, double models.MessageEntityType
}

func (s *style) IsDelimiter(c byte) bool { return c == s.char }

func (s *style) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (s *style) OnMatch(consumes int) ast.Node {
	if consumes == 2 {
		return &styled{entity: s.double}
	}
	return &styled{entity: s.one}
}

var styles = map[byte]*style{
	'*': {'*', models.MessageEntityTypeItalic, models.MessageEntityTypeBold},
	'_': {'_', models.MessageEntityTypeItalic, models.MessageEntityTypeBold},
	'~': {'~', "", models.MessageEntityTypeStrikethrough},
	'|': {'|', "", models.MessageEntityTypeSpoiler},
	'<': {'<', models.MessageEntityTypeUnderline, ""},
}

// delimiterParser reads *, _, ~~, || and <u>. It replaces goldmark's parsers of
// emphasis and strikethrough, whose rules take too much of plain text for
// markup (~a~, 2**3 and 4**5, src/**/*.go).
type delimiterParser struct{ guard *counter }

func (p *delimiterParser) Trigger() []byte { return []byte("*_~|<") }

func (p *delimiterParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	s := styles[line[0]]
	if withinRun(block.Source(), segment.Start) {
		return nil
	}
	var n, length int // bytes of the delimiter and what it counts for
	var opens, closes bool
	if s.char == '<' {
		switch {
		case hasPrefixFold(line, "<u>"):
			n, length, opens = 3, 1, true
		case hasPrefixFold(line, "</u>"):
			n, length, closes = 4, 1, true
		default:
			return nil
		}
	} else {
		source := block.Source()
		for n < len(line) && line[n] == s.char {
			n++
		}
		if s.one == "" && n != 2 {
			return nil
		}
		length = n
		opens, closes = flanks(s.char, source, segment.Start, segment.Start+n)
	}
	if !p.guard.more(parent, pc) {
		return nil
	}
	d := parser.NewDelimiter(opens, closes, length, s.char, s)
	d.Segment = segment.WithStop(segment.Start + n)
	block.Advance(n)
	pc.PushDelimiter(d)
	return d
}

// withinRun reports whether i is in a run that was refused at its start; asking
// again at each of its characters would be quadratic.
func withinRun(source []byte, i int) bool {
	return i > 0 && source[i-1] == source[i] && (i < 2 || source[i-2] != '\\')
}

// flanks decides whether the run of delimiters source[from:to] can open and
// close a style: CommonMark's rule, with exceptions for plain text and for what models write.
func flanks(c byte, source []byte, from, to int) (opens, closes bool) {
	before, after := runeBefore(source, from), runeAt(source, to)
	spaceBefore, spaceAfter := unicode.IsSpace(before), unicode.IsSpace(after)
	punctBefore, punctAfter := isPunct(before), isPunct(after)
	left := !spaceAfter && (!punctAfter || spaceBefore || punctBefore || isCJK(before))
	right := !spaceBefore && (!punctBefore || spaceAfter || punctAfter || isCJK(after))
	if c == '_' {
		opens = left && (!right || punctBefore) && !strings.ContainsRune(`/\@.-=:&?#%+$`, before)
		closes = right && (!left || punctAfter) && !strings.ContainsRune(`/\@-=&#%+$`, after) &&
			!(strings.ContainsRune(".:(", after) && isWord(runeAt(source, to+1)))
		return opens, closes
	}
	if c == '*' && to-from == 2 && isWord(after) && strings.ContainsRune(".:!?,", before) {
		right = true // **Note:**text
	}
	if isWord(before) && isWord(after) && !wordsAround(source, from, to) {
		left = false // 2**3, a*b*c
	}
	if c == '*' && globbed(source, from, to) {
		return false, false
	}
	return left, right
}

// wordsAround reports whether a run of two delimiters stands between words of
// more than one letter: Haupt**teil** may be meant, x**y and z**2 is not.
func wordsAround(source []byte, from, to int) bool {
	return to-from == 2 &&
		unicode.IsLetter(runeBefore(source, from)) && unicode.IsLetter(runeBefore(source, from-1)) &&
		unicode.IsLetter(runeAt(source, to)) && unicode.IsLetter(runeAt(source, to+1))
}

// globbed reports whether asterisks belong to a pattern or a comment:
// src/**/*.go, (*.go|*.ts), */, /*.
func globbed(source []byte, from, to int) bool {
	before, after, next := runeBefore(source, from), runeAt(source, to), runeAt(source, to+1)
	switch {
	case before == '/':
		return isWord(after) || strings.ContainsRune(".*/{", after) && isWord(next) ||
			unicode.IsSpace(after) && !isWord(runeBefore(source, from-1))
	case after == '/':
		return !isWord(next)
	case after == '.':
		return isWord(next) && strings.ContainsRune("(|,{[", before)
	}
	return false
}

func hasPrefixFold(line []byte, prefix string) bool {
	return len(line) >= len(prefix) && bytes.EqualFold(line[:len(prefix)], []byte(prefix))
}

func isPunct(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// isWord reports whether r is an ASCII letter or digit.
func isWord(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func isCJK(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
