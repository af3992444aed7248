package markup

import (
	"strings"

	"github.com/rivo/uniseg"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// widestColumn bounds the padding of a column: one long cell would otherwise
// multiply by the number of rows.
const widestColumn = 60

// table writes rows of equal columns in a monospaced font, the nearest to a
// table that an ordinary message has.
func (r *renderer) table(t *east.Table) {
	var rows [][]string
	widths := make([]int, len(t.Alignments))
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		var cells []string
		for c := row.FirstChild(); c != nil && len(cells) < len(widths); c = c.NextSibling() {
			text := r.cellText(c)
			widths[len(cells)] = min(max(widths[len(cells)], uniseg.StringWidth(text)), widestColumn)
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	var b strings.Builder
	for i, cells := range rows {
		var line strings.Builder
		for k, text := range cells {
			if k > 0 {
				line.WriteString(" | ")
			}
			line.WriteString(pad(text, widths[k], t.Alignments[k]))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if i == 0 {
			b.WriteString(rule(widths) + "\n")
		}
	}
	r.pre(b.String(), "")
}

func rule(widths []int) string {
	dashes := make([]string, len(widths))
	for i, w := range widths {
		dashes[i] = strings.Repeat("-", max(w, 1))
	}
	return strings.Join(dashes, "-+-")
}

func pad(s string, width int, a east.Alignment) string {
	n := max(width-uniseg.StringWidth(s), 0)
	left := 0
	switch a {
	case east.AlignRight:
		left = n
	case east.AlignCenter:
		left = n / 2
	}
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", n-left)
}

// cellText is the text of a cell; code takes no entities inside.
func (r *renderer) cellText(c ast.Node) string {
	inner := renderer{source: r.source, draft: r.draft, cell: true}
	inner.inlines(c)
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, string(inner.out.text))
}
