package markup

import (
	"html"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Rich makes the Markdown of a model harmless for sendRichMessage, which takes
// more than Markdown: raw HTML with buttons, images that Telegram's servers
// fetch, and links into the app. What is escaped is shown as it was typed; an
// image becomes a link.
//
// Only code is left as it is, and only where no parser can disagree about what
// is code: closed fences at the beginning of a line, and spans within a line of
// a paragraph whose backticks all find their partner.
func Rich(src string) string {
	lines := strings.SplitAfter(clean(src), "\n")
	var out strings.Builder
	for len(lines) > 0 {
		n := fenced(lines)
		for _, line := range lines[:n] {
			out.WriteString(line)
		}
		lines = lines[n:]
		n = paragraph(lines)
		out.WriteString(defuse(lines[:n]))
		lines = lines[n:]
	}
	return out.String()
}

// fenced counts the lines of the closed code block that lines begin with.
func fenced(lines []string) int {
	if len(lines) == 0 {
		return 0
	}
	open, info := backticks(lines[0])
	if open < 3 || strings.Contains(info, "`") {
		return 0
	}
	for i, line := range lines[1:] {
		if n, rest := backticks(line); n >= open && strings.TrimSpace(rest) == "" {
			return i + 2
		}
	}
	return 0
}

// backticks counts those that a line begins with.
func backticks(line string) (int, string) {
	rest := strings.TrimLeft(line, "`")
	return len(line) - len(rest), rest
}

// paragraph counts the lines up to a blank one, or to code.
func paragraph(lines []string) int {
	for i, line := range lines {
		if i > 0 && fenced(lines[i:]) > 0 {
			return i
		}
		if strings.TrimSpace(line) == "" {
			return i + 1
		}
	}
	return len(lines)
}

// piece is a part of a line.
type piece struct {
	text string
	code bool
}

func defuse(lines []string) string {
	var out strings.Builder
	var all []piece
	for _, line := range lines {
		spans, sure := spansOf(line)
		if !sure {
			return escapeRich(strings.Join(lines, ""))
		}
		all = append(all, spans...)
	}
	for _, s := range all {
		if s.code {
			out.WriteString(s.text)
		} else {
			out.WriteString(escapeRich(s.text))
		}
	}
	return out.String()
}

// spansOf cuts a line into text and code spans; false if that can be read in
// more than one way.
func spansOf(line string) (spans []piece, sure bool) {
	for {
		i := strings.IndexByte(line, '`')
		if i < 0 {
			return append(spans, piece{line, false}), true
		}
		if i > 0 && line[i-1] == '\\' {
			return nil, false
		}
		n, rest := backticks(line[i:])
		end := closing(rest, n)
		if end < 0 || strings.Contains(rest[:end], "|") { // cells of a table end within code
			return nil, false
		}
		end += i + 2*n
		spans = append(spans, piece{line[:i], false}, piece{line[i:end], true})
		line = line[end:]
	}
}

// closing finds a run of exactly n backticks; -1 if there is none.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		run, _ := backticks(s[i:])
		if run == n {
			return i
		}
		i += run
	}
	return -1
}

var (
	reference = regexp.MustCompile(`&(?:#[0-9]{1,8}|#[xX][0-9a-fA-F]{1,7}|[A-Za-z][A-Za-z0-9]{1,40});`)
	image     = regexp.MustCompile(`!(\\?)\[`)
	appLink   = regexp.MustCompile(`(?i)(t\s*g)(\s*\\?:)`)
)

// escapeRich makes text harmless that is not code. Character references are
// resolved first: they could hide what is looked for.
func escapeRich(s string) string {
	s = reference.ReplaceAllStringFunc(s, func(ref string) string {
		text := html.UnescapeString(ref)
		if text == ref {
			return ref
		}
		if r, size := utf8.DecodeRuneInString(text); size == len(text) && r < utf8.RuneSelf && strings.ContainsRune("!\"#$%'()*+,-./:;=?@[\\]^_`{|}~", r) {
			return `\` + text
		}
		return text
	})
	s = strings.ReplaceAll(s, "&", "&amp;")
	s = strings.ReplaceAll(s, "<", "&lt;")
	s = image.ReplaceAllString(s, "$1[")
	return appLink.ReplaceAllString(s, "$1\u2060$2")
}
