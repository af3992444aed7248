package markup

import (
	"bytes"
	"net/url"
	"sort"
	"strings"

	"github.com/go-telegram/bot/models"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// inlines writes the content of a block that has lines of source.
func (r *renderer) inlines(n ast.Node) {
	lines := r.lines
	r.lines = n.Lines()
	r.children(n)
	r.lines = lines
}

func (r *renderer) children(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		r.inline(n)
	}
}

func (r *renderer) inline(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		value := n.Value(r.source)
		if !n.IsRaw() {
			value = util.UnescapePunctuations(value)
		}
		r.out.write(string(value))
		if n.SoftLineBreak() || n.HardLineBreak() {
			r.lineBreak(n.Segment.Stop)
		}
	case *literal:
		r.sourceRange(n.from, n.to)
	case *ast.CodeSpan:
		r.codeSpan(n)
	case *styled:
		r.style(n.entity, func() { r.children(n) })
	case *ast.Link:
		r.linked(n, n.Destination)
	case *ast.Image:
		r.image(n)
	case *task:
		if n.done {
			r.out.write("☑")
		} else {
			r.out.write("☐")
		}
	default:
		r.children(n)
	}
}

// style writes content under a style that is not open yet.
func (r *renderer) style(e models.MessageEntityType, content func()) {
	if r.open[e] {
		content()
		return
	}
	if r.open == nil {
		r.open = map[models.MessageEntityType]bool{}
	}
	r.open[e] = true
	m := r.out.mark()
	content()
	r.out.end(models.MessageEntity{Type: e}, m)
	r.open[e] = false
}

func (r *renderer) codeSpan(n *ast.CodeSpan) {
	m := r.out.mark()
	r.children(n)
	if !r.link { // a link cannot contain code, and is worth more
		r.out.end(models.MessageEntity{Type: models.MessageEntityTypeCode}, m)
	}
}

// lineBreak ends a line of a paragraph whose text ends at position i of the
// source. The indentation of the next one is kept, or is that of the list.
func (r *renderer) lineBreak(i int) {
	n := r.lines.Len()
	at := sort.Search(n, func(k int) bool { return r.lines.At(k).Stop > i })
	if at < n {
		rest := bytes.TrimSuffix(r.source[i:r.lines.At(at).Stop], []byte("\n"))
		if len(rest) < 2 || rest[0] == '\\' { // two spaces mean a break and are not shown
			r.out.write(string(rest))
		}
	}
	r.out.write("\n")
	if at+1 < n {
		r.lineIndent(r.lines.At(at + 1).Start)
	}
}

func (r *renderer) lineIndent(start int) {
	head := r.source[:start]
	typed := head[len(bytes.TrimRight(head, " \t")):]
	switch {
	case r.verbatim():
		r.out.write(string(typed))
	case r.quotes > 0 || len(typed) > 0: // else a line that continues an item lazily
		r.out.write(r.indent)
	}
}

// sourceRange writes source as it stands, without the marks of containers.
func (r *renderer) sourceRange(from, to int) {
	if r.verbatim() || r.cell {
		r.out.write(string(r.source[from:to]))
		return
	}
	for i := range r.lines.Len() {
		line := r.lines.At(i)
		if line.Stop <= from || line.Start >= to {
			continue
		}
		if line.Start > from {
			r.lineIndent(line.Start)
		}
		r.out.write(string(r.source[max(line.Start, from):min(line.Stop, to)]))
	}
}

func (r *renderer) linked(n ast.Node, destination []byte) {
	target, ok := linkURL(destination)
	m := r.out.mark()
	switch {
	case r.link || ok && r.cell:
		r.children(n)
		if label := r.out.since(m); r.cell && ok && label != target {
			r.out.write(" (" + target + ")") // code cannot contain a link
		}
	case ok:
		r.link = true
		r.children(n)
		r.link = false
		if visible(r.out.since(m)) {
			r.out.end(models.MessageEntity{Type: models.MessageEntityTypeTextLink, URL: target}, m)
			return
		}
		r.typed(n, m)
	case bytes.HasPrefix(destination, []byte("mailto:")): // Telegram links addresses by itself
		r.children(n)
		address := string(destination[len("mailto:"):])
		if label := r.out.since(m); label == "" {
			r.out.write(address)
		} else if label != address {
			r.out.write(" (" + address + ")")
		}
	default:
		r.typed(n, m)
	}
}

// typed writes the source of a link or image.
func (r *renderer) typed(n ast.Node, m mark) {
	end, ok := n.Attribute(endKey)
	if !ok || n.Pos() < 0 {
		r.children(n)
		return
	}
	r.out.truncate(m)
	r.sourceRange(n.Pos(), end.(int))
}

func (r *renderer) image(n *ast.Image) {
	target, ok := linkURL(n.Destination)
	if ok && n.FirstChild() == nil && !r.link {
		r.out.write(target)
		return
	}
	r.linked(n, n.Destination)
}

// linkURL is the destination of a link that Telegram may open: http and https
// only. tg:// would mention people and open dialogs on the model's word.
func linkURL(destination []byte) (string, bool) {
	b := util.UnescapePunctuations(destination)
	s := string(util.ResolveEntityNames(util.ResolveNumericReferences(b)))
	s = strings.ReplaceAll(s, " ", "%20")
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return "", false
	}
	scheme := strings.ToLower(u.Scheme)
	return s, scheme == "http" || scheme == "https"
}
