package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// literal is inline source that stays as it is: a URL or a formula.
type literal struct {
	ast.BaseInline
	from, to int
}

var kindLiteral = ast.NewNodeKind("Literal")

func (n *literal) Kind() ast.NodeKind            { return kindLiteral }
func (n *literal) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// urlParser keeps bare URLs from being read as markup. It starts at the "://"
// or the "." of "www." because goldmark asks inline parsers at punctuation only.
type urlParser struct{}

func (urlParser) Trigger() []byte { return []byte(":.") }

func (urlParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, segment := block.PeekLine()
	head := block.Source()[:segment.Start]
	switch {
	case bytes.HasPrefix(line, []byte("://")) && isWord(runeBefore(head, len(head))):
	case line[0] == '.' && bytes.HasSuffix(head, []byte("www")) && !isWord(runeBefore(head, len(head)-3)):
	default:
		return nil
	}
	n := urlEnd(line)
	if n <= len("://") {
		return nil
	}
	block.Advance(n)
	return &literal{from: segment.Start, to: segment.Start + n}
}

// urlEnd is the length of the rest of a URL: up to what cannot be in one,
// without the punctuation and the delimiters that belong to the sentence.
func urlEnd(line []byte) int {
	n, depth := 0, 0
scan:
	for ; n < len(line); n++ {
		switch c := line[n]; {
		case c <= ' ' || c == '`' || c == '"' || c == '[' || c == ']':
			break scan
		case (c == '*' || c == '|' || c == '~') && runeAt(line, n+1) == rune(c) && !isWord(runeAt(line, n+2)):
			break scan
		case c == '<' && (hasPrefixFold(line[n:], "<u>") || hasPrefixFold(line[n:], "</u>")):
			break scan
		case c == '(':
			depth++
		case c == ')':
			if depth--; depth < 0 {
				break scan
			}
		}
	}
	for n > 0 && bytes.IndexByte([]byte("?!.,:;*_~'|"), line[n-1]) >= 0 {
		n--
	}
	return n
}

// mathParser keeps formulas from being read as markup: $…$, $$…$$, \(…\), \[…\].
type mathParser struct{}

func (mathParser) Trigger() []byte { return []byte(`$\`) }

func (mathParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	switch {
	case bytes.HasPrefix(line, []byte("$$")):
		return span(block, pc, dollarsKey, "$$")
	case bytes.HasPrefix(line, []byte(`\(`)):
		return span(block, pc, roundKey, `\)`)
	case bytes.HasPrefix(line, []byte(`\[`)):
		return span(block, pc, squareKey, `\]`)
	case line[0] != '$' || isWord(runeBefore(block.Source(), segment.Start)):
		return nil
	}
	if n := dollars(line); n > 0 {
		block.Advance(n)
		return &literal{from: segment.Start, to: segment.Start + n}
	}
	return nil
}

// dollars is the length of the $…$ at the start of line, 0 if it is none. Amounts
// of money are not: the second $ must not follow a space or precede a digit.
func dollars(line []byte) int {
	const longest = 500 // bytes; also bounds the search for a line full of prices
	if len(line) < 3 || isSpace(line[1]) {
		return 0
	}
	for i := 2; i < min(len(line), longest); i++ {
		if line[i] != '$' || isSpace(line[i-1]) || line[i-1] == '\\' {
			continue
		}
		if after := runeAt(line, i+1); after < '0' || after > '9' {
			return i + 1
		}
	}
	return 0
}

// Up to where a closer was searched in vain, so that it is searched once.
var dollarsKey, roundKey, squareKey = parser.NewContextKey(), parser.NewContextKey(), parser.NewContextKey()

// span reads from a two-byte opener at the reader to closer, across lines.
func span(block text.Reader, pc parser.Context, key parser.ContextKey, closer string) ast.Node {
	_, segment := block.Position()
	if until, ok := pc.Get(key).(int); ok && segment.Start < until {
		return nil
	}
	from, searched := segment.Start, segment.Stop
	block.Advance(2)
	for {
		line, segment := block.PeekLine()
		if line == nil {
			pc.Set(key, searched)
			return nil
		}
		searched = segment.Stop
		if i := bytes.Index(line, []byte(closer)); i >= 0 {
			block.Advance(i + 2)
			return &literal{from: from, to: segment.Start + i + 2}
		}
		block.AdvanceLine()
	}
}

// formula is a block of lines from $$ to $$ or from \[ to \], which otherwise
// could be taken for lists and rules.
type formula struct {
	ast.BaseBlock
	closer string
}

var kindFormula = ast.NewNodeKind("Formula")

func (n *formula) Kind() ast.NodeKind            { return kindFormula }
func (n *formula) IsRaw() bool                   { return true }
func (n *formula) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

type formulaParser struct{}

func (formulaParser) Trigger() []byte { return []byte(`$\`) }

func (formulaParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	rest := bytes.TrimLeft(line, " \t")
	closer, key := "$$", blockDollarsKey
	switch {
	case bytes.HasPrefix(rest, []byte("$$")):
	case bytes.HasPrefix(rest, []byte(`\[`)):
		closer, key = `\]`, blockSquareKey
	default:
		return nil, parser.NoChildren
	}
	if bytes.Contains(rest[2:], []byte(closer)) || !closes(reader.Source(), segment.Stop, closer, pc, key) {
		return nil, parser.NoChildren
	}
	n := &formula{closer: closer}
	n.Lines().Append(segment)
	reader.AdvanceToEOL()
	return n, parser.NoChildren
}

var blockDollarsKey, blockSquareKey = parser.NewContextKey(), parser.NewContextKey()

// closes reports whether closer comes before the next blank line.
func closes(source []byte, from int, closer string, pc parser.Context, key parser.ContextKey) bool {
	if until, ok := pc.Get(key).(int); ok && from < until {
		return false
	}
	for from < len(source) {
		line := source[from:lineEnd(source, from)]
		if len(bytes.TrimLeft(line, " \t>")) == 0 {
			break
		}
		if bytes.Contains(line, []byte(closer)) {
			return true
		}
		from += len(line) + 1
	}
	pc.Set(key, from)
	return false
}

func (formulaParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, segment := reader.PeekLine()
	node.Lines().Append(segment)
	reader.AdvanceToEOL()
	if bytes.Contains(line, []byte(node.(*formula).closer)) {
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

func (formulaParser) Close(ast.Node, text.Reader, parser.Context) {}
func (formulaParser) CanInterruptParagraph() bool                 { return true }
func (formulaParser) CanAcceptIndentedLine() bool                 { return false }

// lineStart and lineEnd are the bounds of the line around position i.
func lineStart(source []byte, i int) int { return bytes.LastIndexByte(source[:i], '\n') + 1 }

func lineEnd(source []byte, i int) int {
	if n := bytes.IndexByte(source[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(source)
}

// blankBefore reports whether the line before the one at i has nothing but
// white space and, within a quote, its marks.
func blankBefore(source []byte, i int, quoted bool) bool {
	start := lineStart(source, i)
	if start == 0 {
		return false
	}
	line := source[lineStart(source, start-1) : start-1]
	marks := " \t"
	if quoted {
		marks += ">"
	}
	return len(bytes.TrimLeft(line, marks)) == 0
}
