package markup

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// The quality of a place to cut at, best last.
const (
	atCharacter = iota
	atWord
	atSentence
	atLine
	atParagraph
	qualities
)

// bestBreak is where to cut window, at most at limit; window goes one character
// on, so that the end of the character before it can be told. The best place in
// the second half wins, the latest of its kind; then white space in the second
// quarter; then the last character that is whole: a part of a few words before
// an endless one would be worse than a cut in that.
func bestBreak(window string, limit int) int {
	var late [qualities]int // the last place of each quality in the second half
	word, character := 0, 0 // the last white space after the first quarter, and the last character
	state, rest, at := -1, window, 0
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(cluster)
		if at > limit {
			break
		}
		q := quality(window, at)
		if q == atCharacter {
			character = at
		} else if 4*at >= limit {
			word = at
		}
		if 2*at >= limit {
			late[q] = at
		}
	}
	for q := atParagraph; q > atCharacter; q-- {
		if late[q] > 0 {
			return late[q]
		}
	}
	switch {
	case word > 0:
		return word
	case character > 0:
		return character
	}
	return limit // one character longer than a message
}

// quality tells how good a cut before position at is. It looks at the
// characters beside it, white space belonging to neither side.
func quality(s string, at int) int {
	if at >= len(s) {
		return atCharacter
	}
	before, after := s[at-1], s[at]
	switch {
	case after == '\n' && before != '\n':
		if i := strings.IndexFunc(s[at+1:min(len(s), at+blankLine)], func(r rune) bool { return r != ' ' && r != '\t' }); i >= 0 && s[at+1+i] == '\n' {
			return atParagraph
		}
		return atLine
	case before == '\n':
		if strings.HasSuffix(s[:at], "\n\n") {
			return atParagraph
		}
		return atLine
	case after == ' ' || after == '\t':
		if endsSentence(s[:at], sentenceEnds) {
			return atSentence
		}
		return atWord
	case before == ' ' || before == '\t':
		return atWord
	case after >= utf8.RuneSelf || before >= utf8.RuneSelf:
		next, _ := utf8.DecodeRuneInString(s[at:])
		if endsSentence(s[:at], wideSentenceEnds) && !strings.ContainsRune(sentenceEnds+closers, next) {
			return atSentence
		}
	}
	return atCharacter
}

// blankLine is how much white space on a line is looked through.
const blankLine = 16

const (
	wideSentenceEnds = "。！？｡．"
	sentenceEnds     = ".!?…" + wideSentenceEnds
	closers          = `"')]}*»”’）」』】》`
)

// endsSentence reports whether s ends with one of ends, closing quotes and
// brackets aside.
func endsSentence(s, ends string) bool {
	for range 3 {
		r, size := utf8.DecodeLastRuneInString(s)
		if size == 0 || !strings.ContainsRune(closers, r) {
			return size > 0 && strings.ContainsRune(ends, r)
		}
		s = s[:len(s)-size]
	}
	return false
}
