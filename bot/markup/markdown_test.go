package markup

import (
	"sync"
	"testing"
)

type golden struct{ name, source, text, entities string }

func (g golden) check(t *testing.T) {
	t.Helper()
	got := Markdown(g.source)
	if got.Text != g.text || compact(got.Entities) != g.entities {
		t.Errorf("%q\n got %q\n     %s\nwant %q\n     %s", g.source, got.Text, compact(got.Entities), g.text, g.entities)
	}
	if p := problem(got); p != "" {
		t.Errorf("%q: %s", g.source, p)
	}
}

func runGoldens(t *testing.T, goldens []golden) {
	for _, g := range goldens {
		t.Run(g.name, func(t *testing.T) { g.check(t) })
	}
}

func TestInline(t *testing.T) {
	runGoldens(t, []golden{
		{"example", "re: c1.m1 **bold** and `code` and _soft_ ∎", "re: c1.m1 bold and code and soft ∎", "bold 10:4, code 19:4, italic 28:4"},
		{"bold italic", "***both*** __b__ *i*", "both b i", "bold 0:4, italic 0:4, bold 5:1, italic 7:1"},
		{"nested", "**a _b_ ~~c~~**", "a b c", "bold 0:5, italic 2:1, strikethrough 4:1"},
		{"same nested", "**a __b__ c**", "a b c", "bold 0:5"},
		{"strike and spoiler", "~~gone~~ ||hidden **x**||", "gone hidden x", "strikethrough 0:4, spoiler 5:8, bold 12:1"},
		{"single tilde", "1~2 and 3~4, ~a~", "1~2 and 3~4, ~a~", ""},
		{"underline", "<u>x</u> and <U>y</U>", "x and y", "underline 0:1, underline 6:1"},
		{"open underline", "<u>x and </u", "<u>x and </u", ""},
		{"code is literal", "`**a** \\* &amp;`", "**a** \\* &amp;", "code 0:14"},
		{"double backticks", "``a`b``", "a`b", "code 0:3"},
		{"code in bold", "**run `x` now**", "run x now", "bold 0:3, code 4:1, bold 6:3"},
		{"only code in bold", "**`x`**", "x", "code 0:1"},
		{"emoji offsets", "😀 **жирный 😀** x", "😀 жирный 😀 x", "bold 3:9"},
		{"link", "see [the **docs**](https://a.b/c_d?e=1&f=2 \"title\").", "see the docs.", "text_link(https://a.b/c_d?e=1&f=2) 4:8, bold 8:4"},
		{"code in link", "[`x`](https://a.b)", "x", "text_link(https://a.b) 0:1"},
		{"link in bold", "**[x](http://a.b)**", "x", "bold 0:1, text_link(http://a.b) 0:1"},
		{"link destination", `[x](<https://a.b/c d>) [y](https://a.b/\(1\)?a=1&amp;b=2)`, "x y", "text_link(https://a.b/c%20d) 0:1, text_link(https://a.b/(1)?a=1&b=2) 2:1"},
		{"other schemes", "[x](tg://user?id=1) [y](javascript:a) [**z**](file.txt) [w]( )", "[x](tg://user?id=1) [y](javascript:a) [**z**](file.txt) [w]( )", ""},
		{"empty link", "a [](https://a.b) b", "a [](https://a.b) b", ""},
		{"mailto", "[me](mailto:a@b.c) [a@b.c](mailto:a@b.c)", "me (a@b.c) a@b.c", ""},
		{"image", "![a cat](https://a.b/c.png) ![](https://a.b/d.png)", "a cat https://a.b/d.png", "text_link(https://a.b/c.png) 0:5"},
		{"badge", "[![build](https://a.b/i.svg)](https://c.d)", "build", "text_link(https://c.d) 0:5"},
		{"escapes", `\*not\* \_this\_ \[x\](y) 1\. a\\b`, `*not* _this_ \[x\](y) 1. a\b`, ""},
		{"breaks", "a  \nb\\\nc\nd", "a\nb\\\nc\nd", ""},
		{"trimmed edges", "** b** a ||  || c **", "** b** a ||  || c **", ""},
		{"before punctuation", "**\"quoted\"**, **Note:** x", "\"quoted\", Note: x", "bold 0:8, bold 10:5"},
		{"missing space", "**Note:**text, x:**y**", "Note:text, x:y", "bold 0:5, bold 13:1"},
		{"beside CJK punctuation", "这是**“重点”**内容", "这是“重点”内容", "bold 2:4"},
		{"inside words", "这是**重点**内容, Haupt**teil**", "这是重点内容, Hauptteil", "bold 2:2, bold 13:4"},
		{"url in bold", "**https://a.b/c_d** _https://a.b/e_", "https://a.b/c_d https://a.b/e", "bold 0:15, italic 16:13"},
		{"formulas", "$a_1*b_2*c$ \\(x_1 * y_1\\) \\[z_{1}_\\] $$a*b*c$$", "$a_1*b_2*c$ \\(x_1 * y_1\\) \\[z_{1}_\\] $$a*b*c$$", ""},
		{"prices", "$5 for **two**, not $6 or $7", "$5 for two, not $6 or $7", "bold 7:3"},
	})
}

func TestBlocks(t *testing.T) {
	runGoldens(t, []golden{
		{"headings", "# A **b**\n\ntext\n### C ##\nmore", "A b\n\ntext\nC\nmore", "bold 0:3, bold 10:1"},
		{"heading with code", "## Use `x` here", "Use x here", "bold 0:3, code 4:1, bold 6:4"},
		{"fence", "a\n```go\nx := **1**\n\n\ty\n```\nb", "a\nx := **1**\n\n\ty\nb", "pre(go) 2:14"},
		{"fence in tildes", "~~~python title=\"x\"\nprint()\n~~~", "print()", "pre(python) 0:7"},
		{"fence keeps indentation", "```\n  a\nb\n```", "  a\nb", "pre 0:5"},
		{"unclosed fence", "a\n\n```go\nx *y* z\n", "a\n\n```go\nx *y* z", ""},
		{"empty fence", "a\n\n````\n\n````\nb", "a\n\n````\n\n````\nb", ""},
		{"indented code", "a\n\n    x *y*\n      z\n\nb", "a\n\n    x *y*\n      z\n\nb", "pre 3:17"},
		{"indented text", "a\n    b *c*", "a\n    b c", "italic 8:1"},
		{"quote", "> a **b**\n> c\n\nd", "a b\nc\n\nd", "blockquote 0:5, bold 2:1"},
		{"long quote", "> a\n> b\n> c\n> d\n> e", "a\nb\nc\nd\ne", "expandable_blockquote 0:9"},
		{"quote in quote", "> a\n> > b\n> > c\n>\n> d", "a\n> b\n> c\n\nd", "expandable_blockquote 0:12"},
		{"code in quote", "> `x`\n>\n> ```\n> y\n> ```", "x\n\ny", "blockquote 0:4, code 0:1, pre 3:1"},
		{"no quote", ">5 people\n> \n->x", ">5 people\n>\n->x", ""},
		{"bullets", "- a\n- **b**\n  - c\n    * d\n      + e\n- f", "• a\n• b\n  ◦ c\n    ▪ d\n      ▪ e\n• f", "bold 6:1"},
		{"numbers", "3. a\n4. b\n\n1) c\n1) d", "3. a\n4. b\n\n1) c\n1) d", ""},
		{"mixed lists", "1. a\n   - b\n\n   text\n2. c", "1. a\n   • b\n\n   text\n2. c", ""},
		{"loose list", "- a\n\n- b", "• a\n\n• b", ""},
		{"lazy line", "1. a\nb\n   c", "1. a\nb\n   c", ""},
		{"list after text", "Items:\n- a\n- b\n\nend", "Items:\n• a\n• b\n\nend", ""},
		{"code in list", "1. a\n   ```sh\n   ls\n   ```\n2. b", "1. a\nls\n2. b", "pre(sh) 5:2"},
		{"quote in list", "- a\n  > q\n- b", "• a\nq\n• b", "blockquote 4:1"},
		{"tasks", "- [ ] a\n- [x] b\n1. [X] c\n\n- [x](https://a.b)\n- [x]y", "☐ a\n☑ b\n1. ☑ c\n\n• x\n• [x]y", "text_link(https://a.b) 18:1"},
		{"rule", "a\n\n---\n\nb\n***\nc", "a\n\n———\n\nb\n———\nc", ""},
		{"table", "t:\n\n| Name | n |\n|---|--:|\n| **漢字** | 1 |\n| `a\\|b` | 23 |", "t:\n\nName |  n\n-----+---\n漢字 |  1\na|b  | 23", "pre 4:37"},
		{"table with link", "a|b\n-|-\n[x](https://a.b)|![](https://c.d)\n[y](tg://z)|😀", "a               | b\n----------------+------------\nx (https://a.b) | https://c.d\n[y](tg://z)     | 😀", "pre 0:100"},
		{"table after text", "text\na | b\n:-: | -\nlong | c\n\nend", "text\n a   | b\n-----+--\nlong | c\n\nend", "pre 5:26"},
		{"formula", "so\n$$\n- a_1_\n= b*c*\n$$\nthen *x*", "so\n$$\n- a_1_\n= b*c*\n$$\nthen x", "italic 28:1"},
		{"brackets formula", "\\[\n# a\n\\]", "\\[\n# a\n\\]", ""},
		{"unclosed formula", "$$\n- a\n\n*b*", "$$\n• a\n\nb", "italic 8:1"},
		{"paragraphs", "\n\na\nb\n\n\nc  \n", "a\nb\n\n\nc", ""},
		{"crlf and control", "a\r\nb\x00\x1b[0m\u0085c\xff", "a\nb[0mc\uFFFD", ""},
		{"nothing", " \n\t", "", ""},
	})
}

// TestLiteral covers what must come out byte for byte (M1, M2).
func TestLiteral(t *testing.T) {
	for _, s := range []string{
		"re: c1.m1 see https://example.com/a_b_c?x=<1>&y=2 and snake_case_name, 3 * 4 * 5, <b>not bold & <tag>, an unclosed ` and [x](y ∎",
		"https://example.com/_a_/*b*/~~c/||d||?q=__e__",
		"www.example.com/_a_/_b_ and ftp://x.y/_z_, (https://a.b/c_(d)_e)",
		"mcp__brain__auth EXA_API_KEY _private __init__.py __init__(self)",
		"3 * 4 * 5 and 2**3 and 4**5, a*b*c, x**y + z**2, 5*x*y",
		"src/**/*.go and **/*.ts, *.go and *.ts, (*.go|*.ts), /* a */ and /* b */",
		"a || b || c and a||b||c | d",
		"~/dir and ~/other, ~5 and ~6",
		`C:\dir\x and D:\y` + "\\\nnext",
		"<div>\n<p class=\"x\">text</p>\n</div>\n<!-- comment -->",
		"&amp; &lt; &#42; &nbsp; AT&T",
		"an unclosed ` backtick and ``more",
		"[x](y and [brackets] and [a][b] and [^1]\n\n[^1]: note\n[b]: https://a.b\n[Alice]: hello",
		"1. a\n2) b\n10. c",
		"1986. A great year.",
		"#hashtag #5 and ##x\n#\n##",
		"@some_user_name @_x_y, a_b_@c.d",
		"a\n===\nb",
		"- ",
		"a\nb\n\n\n\n  c\n   d \n e",
		"first\n    indented\n\tmore",
		"> ",
		"f(x) = {x: \"y\", z: [1, 2]}; if (a < b && c > d) { return !e; }",
		"$5 to $10, US$5 and $HOME/_x_ or $PATH",
		"!important ![ and !] and [[wiki]] {#id}",
		"e-mail: first_last@example.com; tel: +1-2-3",
		"😀 ‍👩‍👩‍👧‍👦 é z̷̢̈́ 漢字。",
	} {
		want := s
		if s == "- " {
			want = "-"
		}
		if s == "> " {
			want = ">"
		}
		golden{source: s, text: want}.check(t)
	}
}

func TestDraft(t *testing.T) {
	got := Draft("a\n\n```go\nx := 1")
	if got.Text != "a\n\nx := 1" || compact(got.Entities) != "pre(go) 3:6" {
		t.Errorf("%q %s", got.Text, compact(got.Entities))
	}
}

// TestConcurrent lets the race detector look at the shared parser.
func TestConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for _, s := range seeds {
				Markdown(s)
			}
		})
	}
	wg.Wait()
}

func BenchmarkMarkdown(b *testing.B) {
	const paragraph = "## Heading\n\nSome **bold** text with `code`, a [link](https://example.com/a_b) and\n- a list\n- of *things*\n\n```go\nfmt.Println(1)\n```\n\n"
	var s string
	for len(s) < 4<<10 {
		s += paragraph
	}
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		Markdown(s).Split(Message)
	}
}
