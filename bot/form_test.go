package bot

import (
	"fmt"
	"strings"
	"testing"

	"lastword/conversation"
)

// long is a text of so many parts.
func long(parts int) string {
	var b strings.Builder
	for i := range parts {
		fmt.Fprintf(&b, "%d. %s\n\n", i, strings.Repeat("word ", 800))
	}
	return b.String() + "The end."
}

// TestManyParts: a very long answer is so many messages and a file with all of
// it, whose caption is the end.
func TestManyParts(t *testing.T) {
	for _, most := range []int{1, 2, 10} {
		r := newRig(t, open())
		r.maxParts = most
		for n := range 14 {
			text := long(n + 1)
			r.maxParts = 100
			whole := len(r.Compose(text))
			r.maxParts = most
			parts := r.Compose(text)
			last := parts[len(parts)-1]
			switch {
			case whole <= most && (len(parts) != whole || last.File != ""):
				t.Errorf("%d of at most %d: %d parts, file %t", whole, most, len(parts), last.File != "")
			case whole > most && (len(parts) != most+1 || last.File != text || !strings.HasSuffix(last.Text, "The end.") || len(last.Text) > 1024):
				t.Errorf("%d of at most %d: %d parts, caption %q", whole, most, len(parts), last.Text)
			}
		}
	}
}

func TestFile(t *testing.T) {
	r := newRig(t, open())
	message := result(`{"message_id":55,"date":1,"chat":{"id":7,"type":"private"}}`)
	r.tg.always["sendDocument"], r.tg.always["editMessageMedia"] = message, message
	press := conversation.Press{Do: conversation.Regenerate, Incarnation: "abc", Turn: 1, Generation: 1}
	p := conversation.Part{Text: "… the end", File: "all of it", Buttons: []conversation.Button{{Press: press, Label: "↻"}}}
	if id, err := r.Send(t.Context(), key(7), p, conversation.Source{}); id != 55 || err != nil {
		t.Fatalf("%d, %v", id, err)
	}
	sent := r.tg.of("sendDocument")[0]
	if sent.params["caption"] != p.Text || sent.params["file document"] != p.File || !strings.Contains(sent.params["reply_markup"], "↻") {
		t.Errorf("%+v", sent)
	}
	p.Replaces = 55
	if id, err := r.Send(t.Context(), key(7), p, conversation.Source{}); id != 55 || err != nil {
		t.Fatalf("%d, %v", id, err)
	}
	edited := r.tg.of("editMessageMedia")[0]
	if !strings.Contains(edited.params["media"], p.Text) || edited.params["file "+fileName] != p.File || edited.params["message_id"] != "55" {
		t.Errorf("%+v", edited)
	}
}

// TestRichMessages: they are sent harmless, and not at all by a server that has
// none or of a text that it refuses.
func TestRichMessages(t *testing.T) {
	const text = "# a\n\n<tg-button>x</tg-button>"
	unknown, refused := fail(404, "Not Found: method not found"), fail(400, "Bad Request: RICH_MESSAGE_MARKDOWN_INVALID")
	for name, tt := range map[string]struct {
		answers       []answer
		rich, plain   int
		latched, fail bool
	}{
		"sent":        {nil, 2, 0, false, false},
		"no method":   {[]answer{unknown}, 1, 2, true, false},
		"refused":     {[]answer{refused, refused}, 2, 2, false, false},
		"other fault": {[]answer{fail(403, "Forbidden: bot was blocked by the user"), fail(502, "Bad Gateway")}, 2, 0, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, open())
			r.rich = true
			r.tg.always["sendRichMessage"] = result(`{"message_id":901,"date":1,"chat":{"id":7,"type":"private"}}`)
			r.tg.script("sendRichMessage", tt.answers...)
			for range 2 {
				_, err := r.Send(t.Context(), key(7), r.Compose(text)[0], conversation.Source{})
				if (err != nil) != tt.fail {
					t.Errorf("%v", err)
				}
			}
			rich := r.tg.of("sendRichMessage")
			if len(rich) != tt.rich || len(r.tg.of("sendMessage")) != tt.plain || r.noRich.Load() != tt.latched {
				t.Errorf("%d rich, %d plain, latched %t", len(rich), len(r.tg.of("sendMessage")), r.noRich.Load())
			}
			if strings.Contains(rich[0].params["rich_message"], "<tg-") || !strings.Contains(rich[0].params["rich_message"], "# a") {
				t.Errorf("%v", rich[0].params)
			}
		})
	}
	r := newRig(t, open())
	r.rich = true
	if parts := r.Compose(long(3)); len(parts) < 2 || parts[0].Rich != "" {
		t.Error("an answer of several messages has no rich form")
	}
}
