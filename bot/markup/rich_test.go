package markup

import (
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

func TestRich(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"plain":              {"a **bold** word\n", "a **bold** word\n"},
		"button":             {`<tg-button type="callback_data" data="w">T</tg-button>`, `&lt;tg-button type="callback_data" data="w">T&lt;/tg-button>`},
		"image":              {"![a](https://x.test/?q=secret)", "[a](https://x.test/?q=secret)"},
		"image, by name":     {"![a][b]\n\n[b]: https://x.test", "[a][b]\n\n[b]: https://x.test"},
		"app link":           {"[x](tg://user?id=1)", "[x](tg\u2060://user?id=1)"},
		"app link, escaped":  {`[x](tg\://user?id=1)`, "[x](tg\u2060\\://user?id=1)"},
		"app link, hidden":   {"[x](&#116;g&#58;//user?id=1)", "[x](tg\u2060\\://user?id=1)"},
		"app link, shouted":  {"[x](TG://user?id=1)", "[x](TG\u2060://user?id=1)"},
		"reference":          {"a &lt; b &amp;&amp; c &copy; &unknown;", "a &lt; b &amp;&amp; c © &amp;unknown;"},
		"code span":          {"`a<b` and `` `c` <d> ``", "`a<b` and `` `c` <d> ``"},
		"code span, open":    {"`a <b>\nc` <d>", "`a &lt;b>\nc` &lt;d>"},
		"code span, escaped": {"\\`<b>`", "\\`&lt;b>`"},
		"code span in cells": {"|a|\n|-|\n|`x | <b>`|", "|a|\n|-|\n|`x | &lt;b>`|"},
		"fence":              {"```html\n<b>&amp;![](tg:)\n```\n<i>", "```html\n<b>&amp;![](tg:)\n```\n&lt;i>"},
		"fence, open":        {"```html\n<b>\n", "```html\n&lt;b>\n"},
		"fence in a quote":   {"> ```\n> <b>\n> ```\n", "> ```\n> &lt;b>\n> ```\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Rich(tt.in); got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

var tgLink = regexp.MustCompile(`(?i)^\s*tg:`)

// FuzzRich: whatever a model writes, a parser that knows more than the one that
// made it harmless finds no HTML, no image and no link into the app.
func FuzzRich(f *testing.F) {
	for _, s := range []string{
		"<b>x</b>", "`<b>`", "``` \n<b>\n```\n<c>", "![x](y)", "[x](tg://a)", "<tg://a>", "&#60;b&#62;", "`a\n<b>`", "~~~\n<b>\n~~~",
		"|`a|<b>`|", "- ```\n  <b>\n  ```\n", "[a]: tg:x\n[a]", "\\`<b>`", "!&#91;x](y)", "    <b>", "t&#x67;:", "`` ` <b>",
	} {
		f.Add(s)
	}
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	f.Fuzz(func(t *testing.T, src string) {
		out := Rich(src)
		doc := md.Parser().Parse(text.NewReader([]byte(out)))
		err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			switch n := n.(type) {
			case *ast.RawHTML, *ast.HTMLBlock, *ast.Image:
				t.Errorf("%q becomes %q with a %s", src, out, n.Kind())
			case *ast.Link:
				if tgLink.Match(n.Destination) {
					t.Errorf("%q becomes %q with a link to %q", src, out, n.Destination)
				}
			case *ast.AutoLink:
				if tgLink.Match(n.URL([]byte(out))) {
					t.Errorf("%q becomes %q with a link to %q", src, out, n.URL([]byte(out)))
				}
			}
			return ast.WalkContinue, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out, "<tg-") && !strings.Contains(out, "`") {
			t.Errorf("%q becomes %q", src, out)
		}
	})
}
