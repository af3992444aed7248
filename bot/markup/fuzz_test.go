package markup

import (
	"strings"
	"testing"
)

var seeds = []string{
	"re: c1.m1 **bold** and `code` and _soft_ ∎",
	"# A\n\n- a\n  1. b\n> q **x `y`**\n\n| a | b |\n|--|--|\n| [x](https://a.b) | c |\n",
	"```go\nx\n```\n~~~\nopen",
	"$$\n- a\n$$ \\(x\\) <u>u</u> ||s|| ~~t~~ ![i](https://a.b)",
	"a\r\n\x00\xff\u2028👩‍👩‍👧\u0301",
	"- [ ] a\n- [x](https://a.b)\n\n    code\n\t- b",
}

func FuzzMarkdown(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []Text{Markdown(s), Draft(s), Plain(s)} {
			if msg := problem(got); msg != "" {
				t.Fatalf("%q: %s", s, msg)
			}
			if strings.TrimRight(got.Text, space) != got.Text {
				t.Fatalf("not trimmed: %q", got.Text)
			}
		}
	})
}

func FuzzSplit(f *testing.F) {
	for i, s := range seeds {
		f.Add(s, 2+7*i, i, 100*i)
	}
	f.Add("1. 0\n> 0 **A `A`**\nAAAA\"/|--|--|\n|:[a](A| A |\n", 2, 36, 222) // quote and code over the same text
	f.Fuzz(func(t *testing.T, s string, units, entities, bytes int) {
		if units < 2 || units > 1<<20 || len(s) > 1<<14 {
			t.Skip()
		}
		limits := Limits{units, entities, bytes}
		whole := Markdown(s)
		checkSplit(t, whole, limits)
		if msg := problem(Tail(whole, units)) + overLimit(Tail(whole, units), Limits{Units: units}); msg != "" {
			t.Fatal(msg)
		}
	})
}
