package conversation

import "unicode"

// estimate guesses how many tokens a text is. Tokenizers were trained mostly
// on English: a token is about four Latin letters, but two or three Cyrillic
// ones, about one Chinese character, and an emoji is two or three tokens. The
// guess need not be better than that, since [Conversation.Ratio] corrects it by
// what the service reports.
func estimate(text string) int {
	quarters := 0
	for _, r := range text {
		quarters += weight(r)
	}
	return quarters/4 + 1
}

// weight is the share of a rune in quarters of a token.
func weight(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return 4
	case unicode.In(r, unicode.Latin, unicode.Cyrillic, unicode.Greek):
		return 2
	case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsSpace(r), unicode.IsDigit(r), r < 0x3000:
		return 3
	case r >= 0x1F000:
		return 9
	}
	return 4
}

// perMessage is what a message costs beside its text: its role and delimiters
// (OpenAI, "How to count tokens with tiktoken").
const perMessage = 4

// turnTokens estimates a turn of the history.
func turnTokens(t Turn) int {
	return estimate(render(t.Messages, true)) + estimate(t.Reply) + 2*perMessage
}
