package markup

import (
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

var bullets = [...]string{"•", "◦", "▪"}

func (r *renderer) list(list *ast.List) {
	if !list.IsOrdered() {
		r.lists++
		defer func() { r.lists-- }()
	}
	for n := list.FirstChild(); n != nil; n = n.NextSibling() {
		if n.PreviousSibling() != nil {
			r.out.write("\n")
			if r.blankBefore(n) {
				r.out.write("\n")
			}
			r.out.write(r.indent)
		}
		if n.FirstChild() == nil { // a lone "*" is no list to a reader
			r.sourceLine(n)
			continue
		}
		marker := r.marker(list, n)
		r.out.write(marker)
		if !isTask(n) || list.IsOrdered() {
			r.out.write(" ")
		}
		indent := r.indent
		r.indent += strings.Repeat(" ", max(UTF16Len(marker), 1)+1)
		r.blocks(n)
		r.indent = indent
	}
}

// marker is the bullet of an item, or its number as typed. The box of a task
// takes the place of its bullet.
func (r *renderer) marker(list *ast.List, item ast.Node) string {
	if !list.IsOrdered() {
		if isTask(item) {
			return ""
		}
		return bullets[min(r.lists, len(bullets))-1]
	}
	from := item.Pos()
	to := from
	for to < len(r.source) && r.source[to] >= '0' && r.source[to] <= '9' {
		to++
	}
	return string(r.source[from:to]) + string(list.Marker)
}

// task is the box of a task list item.
type task struct {
	ast.BaseInline
	done bool
}

var kindTask = ast.NewNodeKind("Task")

func (n *task) Kind() ast.NodeKind            { return kindTask }
func (n *task) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

func isTask(item ast.Node) bool {
	if item.FirstChild() == nil {
		return false
	}
	_, ok := item.FirstChild().FirstChild().(*task)
	return ok
}

// taskParser reads the [ ] or [x] of a task. Unlike goldmark's it asks for a
// space after the box, so that an item may begin with the link [x](…).
type taskParser struct{}

var taskBox = regexp.MustCompile(`^\[([ xX])\] `)

func (taskParser) Trigger() []byte { return []byte{'['} }

func (taskParser) Parse(parent ast.Node, block text.Reader, _ parser.Context) ast.Node {
	if _, ok := parent.Parent().(*ast.ListItem); !ok || parent.HasChildren() || parent.PreviousSibling() != nil {
		return nil
	}
	line, _ := block.PeekLine()
	box := taskBox.FindSubmatch(line)
	if box == nil {
		return nil
	}
	block.Advance(len(box[0]) - 1)
	return &task{done: box[1][0] != ' '}
}
