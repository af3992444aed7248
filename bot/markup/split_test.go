package markup

import (
	"strings"
	"testing"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// checkSplit checks the promises of Split (M3, M4).
func checkSplit(t interface{ Fatalf(string, ...any) }, whole Text, limits Limits) {
	parts := whole.Split(limits)
	graphemes := boundaries(whole.Text)
	rest, at := whole.Text, 0
	for i, p := range parts {
		if msg := overLimit(p, limits); msg != "" {
			t.Fatalf("part %d of %+v has %s", i, limits, msg)
		}
		if msg := problem(p); msg != "" {
			t.Fatalf("part %d: %s", i, msg)
		}
		if !p.Visible() {
			t.Fatalf("part %d is blank: %q", i, p.Text)
		}
		if strings.TrimRight(p.Text, space) != p.Text || strings.TrimLeft(p.Text, space) != p.Text && !codeAtStart(p) {
			t.Fatalf("part %d is not trimmed: %q", i, p.Text)
		}
		skip := strings.Index(rest, p.Text)
		if skip < 0 || strings.Trim(rest[:skip], space) != "" && visible(rest[:skip]) {
			t.Fatalf("part %d %q is not next in %q", i, p.Text, rest)
		}
		at += skip
		if i > 0 && skip == 0 && !graphemes[at] && UTF16Len(clusterAround(whole.Text, at)) <= limits.Units {
			t.Fatalf("part %d begins within a character: %q", i, p.Text)
		}
		at += len(p.Text)
		rest = whole.Text[at:]
	}
	if visible(rest) {
		t.Fatalf("not delivered: %q", rest)
	}
}

// codeAtStart reports whether t begins with a pre, or a quote of one, whose
// indentation Telegram leaves alone.
func codeAtStart(t Text) bool {
	return len(t.Entities) > 0 && t.Entities[0].Offset == 0
}

func boundaries(s string) map[int]bool {
	out := map[int]bool{0: true}
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		_, to := g.Positions()
		out[to] = true
	}
	return out
}

func clusterAround(s string, at int) string {
	g := uniseg.NewGraphemes(s)
	for g.Next() {
		if from, to := g.Positions(); from <= at && at < to {
			return g.Str()
		}
	}
	return ""
}

// markdownText generates text with and without markup.
func markdownText() *rapid.Generator[string] {
	piece := rapid.SampledFrom([]string{
		"word ", "слово ", "漢字。", "😀", "👩‍👩‍👧", "🇦🇹", "é", "z̷̢̈́", " ", "\n", "\n\n", ". ", "! ", "**", "*", "_", "__", "~~", "||", "`", "```go\n", "```\n",
		"> ", "- ", "  - ", "1. ", "# ", "[", "](https://a.b)", "![", "<u>", "</u>", "|", "\n|-|-|\n", "a|b\n", "$", "$$\n", `\(`, `\)`, `\`, "---\n", "https://a.b/c_d ", "    ", "\t", "[ ] ", "&amp;", "\u200b",
	})
	return rapid.Map(rapid.SliceOfN(piece, 0, 120), func(s []string) string { return strings.Join(s, "") })
}

func TestSplitProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := markdownText().Draw(t, "source")
		limits := Limits{
			Units:    rapid.IntRange(2, 120).Draw(t, "units"),
			Entities: rapid.IntRange(0, 8).Draw(t, "entities"),
			Bytes:    rapid.SampledFrom([]int{0, 100, 300, 9000}).Draw(t, "bytes"),
		}
		whole := Markdown(src)
		if msg := problem(whole); msg != "" {
			t.Fatal(msg)
		}
		checkSplit(t, whole, limits)
		tail := Tail(whole, limits.Units)
		if msg := problem(tail); msg != "" {
			t.Fatal(msg)
		}
		if msg := overLimit(tail, Limits{Units: limits.Units}); msg != "" {
			t.Fatal(msg)
		}
		if d := Draft(src); problem(d) != "" {
			t.Fatal(problem(d))
		}
	})
}

func TestPlainProperties(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"word", "snake_case_name", "mcp__brain__auth", "https://example.com/a_b_c?x=<1>&y=2", "3 * 4 * 5", "2**3", "<b>bold", "</b>", "&amp;", `C:\dir\x`,
		"[x](y", "[^1]", "[brackets]", "(1)", "x)", "#tag", "@some_name", "a:b", "~", "~/dir", "a|b", "a||b", "$5", "é", "漢字。", "😀", "=", "==", "!", "=>", "->", ">5", "<-", "...", "–", "_x", "'", "\"", "{}", "%", "^", "C#", "a/b",
	})
	join := rapid.SampledFrom([]string{" ", " ", " ", "\n", "\n\n", "\n\n\n", "  ", ", ", " - ", "\n  ", "\t", " \n"})
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "words")
		var b strings.Builder
		for range n {
			b.WriteString(word.Draw(t, "word"))
			b.WriteString(join.Draw(t, "join"))
		}
		s := strings.Trim(b.String(), space)
		if got := Markdown(s); got.Text != s || len(got.Entities) > 0 {
			t.Fatalf("%q\n got %q %s", s, got.Text, compact(got.Entities))
		}
	})
}

func texts(parts []Text) string {
	var out []string
	for _, p := range parts {
		s := p.Text
		if len(p.Entities) > 0 {
			s += " {" + compact(p.Entities) + "}"
		}
		out = append(out, s)
	}
	return strings.Join(out, "¦")
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, source string
		units        int
		want         string
	}{
		{"whole", "abc", 3, "abc"},
		{"nothing", " ", 3, ""},
		{"paragraph before line", "aaa aa\n\nbbb\nccc ddd", 14, "aaa aa¦bbb\nccc ddd"},
		{"line before sentence", "aaaa\nbb. cc dd ee", 9, "aaaa¦bb. cc dd¦ee"},
		{"sentence before word", "aaaa bb. cc ddd", 12, "aaaa bb.¦cc ddd"},
		{"wide sentence", "漢字漢字。漢字漢字", 8, "漢字漢字。¦漢字漢字"},
		{"word", "aaaa bbbb cccc", 10, "aaaa bbbb¦cccc"},
		{"long word behind a short one", "aaa bbbbbbbb", 9, "aaa¦bbbbbbbb"},
		{"endless word behind a short one", "a bbbbbbbbbbbbbbbb", 9, "a bbbbbbb¦bbbbbbbbb"},
		{"characters", "aaaaaaaaaa", 4, "aaaa¦aaaa¦aa"},
		{"emoji", "😀😀😀", 4, "😀😀¦😀"},
		{"families", "👩‍👩‍👧👩‍👩‍👧", 10, "👩‍👩‍👧¦👩‍👩‍👧"},
		{"one family too long", "👩‍👩‍👧", 4, "👩‍\u200b"},
		{"entities reopen", "**aaaa bbbb** cc", 6, "aaaa {bold 0:4}¦bbbb {bold 0:4}¦cc"},
		{"code reopens", "```go\nif x {\n    y()\n}\n```", 8, "if x { {pre(go) 0:6}¦    y() {pre(go) 0:7}¦} {pre(go) 0:1}"},
		{"no scrap", "aa aa aa aa aa aa aa aa a", 24, "aa aa aa aa aa aa aa¦aa a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "one family too long" {
				checkSplit(t, Plain(c.source), Limits{Units: c.units})
				return
			}
			if got := texts(Markdown(c.source).Split(Limits{Units: c.units})); got != c.want {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestSplitEntityLimits(t *testing.T) {
	many := Markdown(strings.Repeat("**a** b ", 250))
	for _, limits := range []Limits{Message, {4096, 7, 0}, {4096, 0, 500}} {
		checkSplit(t, many, limits)
	}
	if n := len(many.Split(Message)); n != 3 {
		t.Errorf("%d parts for 250 entities, want 3", n)
	}
	huge := Text{Text: "a b", Entities: []models.MessageEntity{{Type: "text_link", Length: 1, URL: "https://a.b/" + strings.Repeat("x", 10_000)}}}
	if got := huge.Split(Message); len(got) != 1 || len(got[0].Entities) != 0 {
		t.Errorf("an entity too large for a message: %v", got)
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		source string
		units  int
		want   string
	}{
		{"**abc**", 3, "abc {bold 0:3}"},
		{"aaaa **bbbb**", 5, "…bbbb {bold 1:4}"},
		{"aaaa **bbbb**", 4, "…bbb {bold 1:3}"},
		{"a 👩‍👩‍👧", 4, "…"},
		{"abc", 1, ""},
	} {
		if got := texts([]Text{Tail(Markdown(c.source), c.units)}); got != c.want {
			t.Errorf("%q: got %q, want %q", c.source, got, c.want)
		}
	}
}

// hostile texts are quadratic in a careless parser or splitter.
func hostile() map[string]string {
	out := map[string]string{}
	for _, s := range []string{
		"> ", "- ", "1. ", "*a_ ", "**a*", "[", "](", "[a](b", "![a](<b", "`", "$", "$a ", `\(`, `\[` + "\n", "$$\n", "<u>", "||a", "~~a", "a|", "|-", "|", "#", "\n", " \n", "  ", "\t- ",
		"- a\n", "> a\n", "```\n", "https://", "www.a(", "a\u0301", "\u0301", "🇦", "😀\u200d", "\\", "[^", "a\n    b\n", "- [ ] ", "_a__b_ ", "\n\n    c",
	} {
		out[s] = strings.Repeat(s, maxSource/len(s))
	}
	out["nest"] = strings.Repeat("- ", 50_000) + strings.Repeat("\n", 50_000)
	out["stairs"] = stairs()
	out["table"] = "|" + strings.Repeat("a|", 20_000) + "\n|" + strings.Repeat("-|", 20_000) + "\n" + strings.Repeat("a\n", 40_000)
	out["ticks"] = ticks()
	return out
}

func stairs() string {
	var b strings.Builder
	for i := 0; b.Len() < maxSource-2000; i++ {
		b.WriteString(strings.Repeat("  ", i) + "- a\n")
	}
	return b.String()
}

func ticks() string {
	var b strings.Builder
	for i := 1; b.Len() < maxSource-2000; i++ {
		b.WriteString(strings.Repeat("`", i) + "a")
	}
	return b.String()
}

func TestHostile(t *testing.T) {
	for name, s := range hostile() {
		start := time.Now()
		got := Markdown(s)
		parsed := time.Since(start)
		parts := got.Split(Message)
		took := time.Since(start)
		if msg := problem(got); msg != "" {
			t.Errorf("%q: %s", name, msg)
		}
		for _, p := range parts {
			if msg := problem(p) + overLimit(p, Message); msg != "" {
				t.Errorf("%q: %s", name, msg)
			}
		}
		t.Logf("%-12q %6d bytes: parse %v, split %v", name, len(s), parsed.Round(time.Millisecond), (took - parsed).Round(time.Millisecond))
		if took > 10*time.Second { // generous: the race detector slows it down tenfold
			t.Errorf("%q took %v", name, took)
		}
	}
}

func TestLongSplit(t *testing.T) {
	for name, s := range map[string]string{
		"words": strings.Repeat("some words in a line. ", 5<<20/22),
		"zalgo": "a" + strings.Repeat("\u0301", 5<<19),
		"emoji": strings.Repeat("👩‍👩‍👧", 5<<20/18),
		"space": "a" + strings.Repeat(" ", 5<<20) + "b",
		"lines": strings.Repeat("\n", 5<<20) + "b",
	} {
		start := time.Now()
		parts := Markdown(s).Split(Message)
		took := time.Since(start)
		t.Logf("%s: %d parts, %v", name, len(parts), took.Round(time.Millisecond))
		if took > 20*time.Second {
			t.Errorf("%s took %v", name, took)
		}
	}
}
