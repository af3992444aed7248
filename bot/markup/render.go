package markup

import (
	"bytes"
	"strings"

	"github.com/go-telegram/bot/models"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// renderer writes a tree of Markdown as text and entities.
type renderer struct {
	source []byte
	draft  bool
	out    builder

	indent string                            // what begins the lines of the current list item or inner quote
	lists  int                               // bulleted lists around
	quotes int                               // quotes around
	lines  *text.Segments                    // source lines of the current paragraph
	open   map[models.MessageEntityType]bool // styles around
	link   bool                              // within a link
	cell   bool                              // within a table
}

func (r *renderer) blocks(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		if prev := n.PreviousSibling(); prev != nil {
			r.gap(prev, n)
		}
		r.block(n)
	}
}

// gap writes what separates two blocks: a newline, and a blank line where the
// source has one.
func (r *renderer) gap(prev, next ast.Node) {
	if r.verbatim() {
		_, from, ok1 := r.extent(prev)
		to, _, ok2 := r.extent(next)
		if ok1 && ok2 && from <= to && len(bytes.TrimSpace(r.source[from:to])) == 0 {
			r.out.write(string(r.source[from:to]))
			return
		}
	}
	r.out.write("\n")
	if r.blankBefore(next) {
		r.out.write("\n")
	}
	if !standsAlone(next) {
		r.out.write(r.indent)
	}
}

// verbatim reports whether the current lines stand in the source as they are
// shown, without the marks of lists and quotes.
func (r *renderer) verbatim() bool { return r.indent == "" && r.quotes == 0 }

// extent is the source range that a block shows unchanged, if it does.
func (r *renderer) extent(n ast.Node) (from, to int, ok bool) {
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.CodeBlock, *formula:
	case *ast.FencedCodeBlock:
		if r.isCode(n) {
			return 0, 0, false
		}
		from, to = r.fenceExtent(n)
		return from, to, true
	default:
		return 0, 0, false
	}
	lines := n.Lines()
	if lines.Len() == 0 {
		return 0, 0, false
	}
	from, to = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	if _, ok := n.(*ast.Paragraph); !ok {
		from = lineStart(r.source, from)
	}
	return from, from + len(bytes.TrimRight(r.source[from:to], "\n")), true
}

// fenceExtent is the source of a fenced block from its opening fence to the
// closing one, if there is one.
func (r *renderer) fenceExtent(n *ast.FencedCodeBlock) (from, to int) {
	from = n.Pos()
	to = min(lineEnd(r.source, from)+1, len(r.source))
	if lines := n.Lines(); lines.Len() > 0 {
		to = lines.At(lines.Len() - 1).Stop
	}
	if _, closed := n.Attribute(closedKey); closed {
		to = lineEnd(r.source, to)
	}
	return from, from + len(bytes.TrimRight(r.source[from:to], "\n"))
}

func (r *renderer) blankBefore(n ast.Node) bool {
	if t, ok := n.(*east.Table); ok {
		n = t.FirstChild().FirstChild() // a table's own position is that of the paragraph before it
	}
	return n != nil && n.Pos() >= 0 && blankBefore(r.source, n.Pos(), r.quotes > 0)
}

// standsAlone reports whether Telegram shows n as a box of its own, which takes
// no indentation.
func standsAlone(n ast.Node) bool {
	switch n.(type) {
	case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.Blockquote, *east.Table:
		return true
	}
	return false
}

func (r *renderer) block(n ast.Node) {
	if standsAlone(n) && !r.out.atLineStart() && r.quotes == 0 {
		r.out.write("\n") // the first block of a list item
	}
	switch n := n.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		r.inlines(n)
	case *ast.Heading:
		r.heading(n)
	case *ast.ThematicBreak:
		r.out.write("———")
	case *ast.FencedCodeBlock:
		r.fenced(n)
	case *ast.CodeBlock:
		from, to, ok := r.extent(n)
		if ok && r.verbatim() {
			r.pre(string(r.source[from:to]), "")
		} else {
			r.pre(r.raw(n), "")
		}
	case *formula:
		r.asTyped(n)
	case *ast.Blockquote:
		r.quote(n)
	case *ast.List:
		r.list(n)
	case *east.Table:
		r.table(n)
	default:
		r.blocks(n)
	}
}

func (r *renderer) heading(n *ast.Heading) {
	if n.Lines().Len() == 0 { // a lone "#" is no heading to a reader
		r.sourceLine(n)
		return
	}
	r.style(models.MessageEntityTypeBold, func() { r.inlines(n) })
}

// sourceLine writes the line of source that begins with n.
func (r *renderer) sourceLine(n ast.Node) {
	if from := n.Pos(); from >= 0 {
		r.out.write(strings.TrimRight(string(r.source[from:lineEnd(r.source, from)]), " \t"))
	}
}

// isCode reports whether a fenced block is shown as code; an unclosed or empty
// one stays as typed.
func (r *renderer) isCode(n *ast.FencedCodeBlock) bool {
	_, closed := n.Attribute(closedKey)
	return (closed || r.draft) && visible(r.raw(n))
}

func (r *renderer) fenced(n *ast.FencedCodeBlock) {
	switch {
	case r.isCode(n):
		r.pre(r.raw(n), language(n.Language(r.source)))
	case r.verbatim():
		from, to := r.fenceExtent(n)
		r.out.write(string(r.source[from:to]))
	default:
		r.sourceLine(n)
		if s := r.raw(n); s != "" {
			r.out.write("\n" + s)
		}
	}
}

// language is the name of a programming language, without the attributes that
// some models put behind it.
func language(info []byte) string {
	const longest = 32
	end := bytes.IndexFunc(info, func(r rune) bool {
		return !isWord(r) && !strings.ContainsRune("+#.-_", r)
	})
	if end < 0 {
		end = len(info)
	}
	return string(info[:min(end, longest)])
}

func (r *renderer) pre(code, language string) {
	m := r.out.mark()
	r.out.write(strings.TrimRight(code, "\n"))
	r.out.end(models.MessageEntity{Type: models.MessageEntityTypePre, Language: language}, m)
}

// raw is the content of a block without the marks of its containers.
func (r *renderer) raw(n ast.Node) string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(r.source))
	}
	return strings.TrimRight(b.String(), "\n")
}

func (r *renderer) asTyped(n ast.Node) {
	if from, to, ok := r.extent(n); ok && r.verbatim() {
		r.out.write(strings.TrimLeft(string(r.source[from:to]), " \t"))
		return
	}
	r.out.write(strings.ReplaceAll(strings.TrimLeft(r.raw(n), " \t"), "\n", "\n"+r.indent))
}

// Quotes above either bound are folded by Telegram.
const (
	longQuoteUnits = 300
	longQuoteLines = 4
)

func (r *renderer) quote(n *ast.Blockquote) {
	if n.FirstChild() == nil {
		r.sourceLine(n)
		return
	}
	indent := r.indent
	defer func() { r.indent = indent; r.quotes-- }()
	r.quotes++
	if r.quotes > 1 { // quotes cannot nest: the inner one is marked in text
		r.out.write("> ")
		r.indent += "> "
		r.blocks(n)
		return
	}
	r.indent = ""
	m := r.out.mark()
	r.blocks(n)
	e := models.MessageEntity{Type: models.MessageEntityTypeBlockquote}
	if r.out.units-m.units > longQuoteUnits || strings.Count(r.out.since(m), "\n") >= longQuoteLines {
		e.Type = models.MessageEntityTypeExpandableBlockquote
	}
	r.out.end(e, m)
}
