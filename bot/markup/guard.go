package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Bounds on what a hostile text can cost. An answer of a model is far below.
const (
	maxSource     = 200 << 10 // bytes parsed as Markdown; longer text is plain
	maxDepth      = 10        // lists and quotes inside one another
	maxDelimiters = 2000      // per paragraph; matching them is quadratic in goldmark
	maxBrackets   = 200       // per paragraph; each may scan the rest of it
	maxCells      = 20_000    // per table; goldmark fills short rows up
)

// counter bounds how often something occurs in one block.
type counter struct {
	key parser.ContextKey
	max int
}

type count struct {
	block ast.Node
	n     int
}

func newCounter(most int) *counter { return &counter{parser.NewContextKey(), most} }

// more counts one occurrence in block and reports whether it is within bounds.
func (c *counter) more(block ast.Node, pc parser.Context) bool {
	v := pc.ComputeIfAbsent(c.key, func() any { return new(count) }).(*count)
	if v.block != block {
		*v = count{block: block}
	}
	v.n++
	return v.n <= c.max
}

// container bounds the nesting of lists and quotes.
type container struct {
	parser.BlockParser
	quote bool
}

func (p container) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	if _, inList := parent.(*ast.List); !inList { // a list must see its own items
		if containers(parent) >= maxDepth {
			return nil, parser.NoChildren
		}
	}
	if p.quote {
		line, _ := reader.PeekLine()
		i := bytes.IndexByte(line, '>') + 1
		if i < len(line) && !isSpace(line[i]) && line[i] != '>' {
			return nil, parser.NoChildren // ">5 people" is no quote
		}
	}
	return p.BlockParser.Open(parent, reader, pc)
}

func containers(n ast.Node) int {
	depth := 0
	for ; n != nil; n = n.Parent() {
		switch n.(type) {
		case *ast.List, *ast.Blockquote:
			depth++
		}
	}
	return depth
}

// indented reads an indented line as code only after a blank line, otherwise
// as a paragraph. It stands for two parsers because a block keeps the one that
// opened it, and because goldmark's paragraphs refuse indented lines.
type indented struct{ code, paragraph parser.BlockParser }

func (p indented) Trigger() []byte { return nil }

func (p indented) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	_, segment := reader.PeekLine()
	start := lineStart(reader.Source(), segment.Start)
	if start > 0 && blankBefore(reader.Source(), start, quoted(parent)) {
		return p.code.Open(parent, reader, pc)
	}
	if pc.BlockIndent() > 3 {
		return p.paragraph.Open(parent, reader, pc)
	}
	return nil, parser.NoChildren
}

func quoted(n ast.Node) bool {
	for ; n != nil; n = n.Parent() {
		if n.Kind() == ast.KindBlockquote {
			return true
		}
	}
	return false
}

func (p indented) of(n ast.Node) parser.BlockParser {
	if ast.IsParagraph(n) {
		return p.paragraph
	}
	return p.code
}

func (p indented) Continue(n ast.Node, reader text.Reader, pc parser.Context) parser.State {
	return p.of(n).Continue(n, reader, pc)
}

func (p indented) Close(n ast.Node, reader text.Reader, pc parser.Context) {
	p.of(n).Close(n, reader, pc)
}

func (p indented) CanInterruptParagraph() bool { return false }
func (p indented) CanAcceptIndentedLine() bool { return true }

// fence notes which fenced blocks were closed.
type fence struct{ parser.BlockParser }

var closedKey = []byte("closed")

func (p fence) Continue(n ast.Node, reader text.Reader, pc parser.Context) parser.State {
	state := p.BlockParser.Continue(n, reader, pc)
	if state == parser.Close {
		n.SetAttribute(closedKey, true)
	}
	return state
}

// bracket bounds links and notes where they end, which the tree does not tell.
type bracket struct {
	parser.InlineParser
	guard *counter
}

var endKey = []byte("end")

func (p bracket) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if block.Peek() != ']' && !p.guard.more(parent, pc) {
		return nil
	}
	n := p.InlineParser.Parse(parent, block, pc)
	switch n.(type) {
	case *ast.Link, *ast.Image:
		_, segment := block.Position()
		n.SetAttribute(endKey, segment.Start)
	}
	return n
}

func (p bracket) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	p.InlineParser.(parser.CloseBlocker).CloseBlock(parent, block, pc)
}

// tables bounds the cells of a table, and asks for a head that looks like one.
type tables struct{ parser.ParagraphTransformer }

func newTables() tables { return tables{extension.NewTableParagraphTransformer()} }

func (t tables) Transform(n *ast.Paragraph, reader text.Reader, pc parser.Context) {
	columns, previous := 1, 0
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		value := line.Value(reader.Source())
		pipes := bytes.Count(value, []byte("|"))
		if i > 0 && previous == 0 && pipes > 0 && len(bytes.Trim(value, " \t\n|:-")) == 0 {
			return // "word" over "| -" is no table
		}
		columns, previous = max(columns, pipes), pipes
	}
	if columns > 1 && columns*n.Lines().Len() > maxCells {
		return
	}
	t.ParagraphTransformer.Transform(n, reader, pc)
}
