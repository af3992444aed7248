//go:build picture

package main

import (
	"context"
	"fmt"
	"html"
	"os"
	"strings"
	"testing"
	"time"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
)

// TestPicture makes docs/burst.svg of a run of the real engine, over its real
// store and the real protocol of the web chat: make picture. Only the clock is a
// virtual one.
func TestPicture(t *testing.T) {
	inWebWorld(t, func(t *testing.T, w *webWorld) {
		w.stop()
		w.turn = conversation.DefaultConfig()
		w.model.Write = guide
		w.start()
		r := &recording{p: w.open(0, false), start: time.Now()}
		for _, line := range []struct {
			text string
			then time.Duration
		}{
			{"how do I get to the airport", 900 * time.Millisecond}, {"from the old town", 800 * time.Millisecond}, {"with a bike", 4100 * time.Millisecond},
			{"sorry, to the central station", 7200 * time.Millisecond},
		} {
			r.typed++
			r.p.say(fmt.Sprint("m", r.typed), line.text)
			for end := time.Now().Add(line.then); time.Now().Before(end); {
				w.after(100 * time.Millisecond)
				r.look()
			}
		}
		if err := os.WriteFile("docs/burst.svg", []byte(r.svg()), 0o644); err != nil {
			t.Fatal(err)
		}
	})
}

// guide is a model that knows the way, and takes its time.
func guide(ctx context.Context, _ int, prompt []conversation.PromptMessage, progress func(string)) (conversation.Completion, error) {
	answer := "To the airport by bike: follow the canal path north from the old town, about 40 minutes."
	if strings.Contains(prompt[len(prompt)-1].Text, "station") {
		answer = "By bike from the old town to the central station: ten minutes along the river."
	}
	text := ""
	for _, word := range strings.SplitAfter(answer, " ") {
		if err := conversationtest.Sleep(ctx, 260*time.Millisecond); err != nil {
			return conversation.Completion{}, err
		}
		text += word
		progress(text)
	}
	return conversation.Completion{Text: answer}, nil
}

// recording is what a page shows, each time that it changes.
type recording struct {
	p      *page
	start  time.Time
	typed  int
	states []state
	draft  string
	gone   string // a draft that was discarded
	goneAt time.Duration
}

type state struct {
	at      time.Duration
	bubbles []bubble
}

type bubble struct{ kind, text string }

const goneFor = 1600 * time.Millisecond // is a discarded draft shown

// look notes what there is to see, if it is something new.
func (r *recording) look() {
	at := time.Since(r.start).Round(100 * time.Millisecond)
	frames := r.p.of("preview")
	if len(frames) > 0 {
		r.draft = frames[len(frames)-1].Text
	}
	if told := r.p.of("message_buffered"); len(told) > 0 && r.gone == "" {
		r.gone, r.goneAt = r.draft, at
	}
	var bubbles []bubble
	answered := false
	for _, m := range r.p.screen() {
		kind := "me"
		if m.From != "user" {
			kind, answered = "bot", true
		}
		bubbles = append(bubbles, bubble{kind, m.Text})
	}
	switch {
	case answered:
	case r.gone != "" && at-r.goneAt < goneFor:
		bubbles = append(bubbles, bubble{"gone", r.gone})
	case len(frames) > 0:
		bubbles = append(bubbles, bubble{"draft", r.draft})
	}
	if n := len(r.states); n == 0 || fmt.Sprint(r.states[n-1].bubbles) != fmt.Sprint(bubbles) {
		r.states = append(r.states, state{at, bubbles})
	}
}

const svgHead = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 400" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif" font-size="16" role="img">
<title>Three lines typed fast are one question; a fourth in mid-answer discards the draft, and one answer covers all</title>
<style>
.page{fill:#f4f6f6}.me{fill:#0f766e}.met{fill:#fff}.bot,.draft,.gone{fill:#fff;stroke:#d5dcdc}.bott,.draftt{fill:#1b2424}
.gonet{fill:#8a9494;text-decoration:line-through}.note{fill:#b45309;font-size:13px}.clock{fill:#5f6b6b;font-size:13px;font-variant-numeric:tabular-nums}
@media (prefers-color-scheme:dark){.page{fill:#14191a}.bot,.draft,.gone{fill:#222a2b;stroke:#374142}.bott,.draftt{fill:#e6ecec}.note{fill:#f59e0b}.clock{fill:#9aa5a5}}
</style>
<rect class="page" width="720" height="400" rx="16"/>
`

// svg shows one state after the other, for ever.
func (r *recording) svg() string {
	var b strings.Builder
	b.WriteString(svgHead)
	total := time.Since(r.start) + 2*time.Second
	for i, s := range r.states {
		end := total
		if i+1 < len(r.states) {
			end = r.states[i+1].at
		}
		fmt.Fprintf(&b, `<g visibility="hidden"><animate attributeName="visibility" calcMode="discrete" dur="%.1fs" repeatCount="indefinite" values="hidden;visible;hidden" keyTimes="0;%.4f;%.4f"/>`,
			total.Seconds(), max(s.at.Seconds()/total.Seconds(), 0.0001), min(end.Seconds()/total.Seconds(), 1))
		y := 24
		for _, bubble := range s.bubbles {
			y = bubble.draw(&b, y)
		}
		fmt.Fprintf(&b, "<text class=\"clock\" x=\"24\" y=\"380\">%.1f s</text></g>\n", s.at.Seconds())
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// draw draws a bubble below y and returns where the next one goes.
func (u bubble) draw(b *strings.Builder, y int) int {
	lines := wrap(u.text, 50)
	if u.kind == "draft" && u.text == "" {
		lines = []string{"…"}
	}
	width := 40
	for _, l := range lines {
		width = max(width, 32+len([]rune(l))*35/4)
	}
	height, x := 16+22*len(lines), 24
	if u.kind == "me" {
		x = 720 - 24 - width
	}
	fmt.Fprintf(b, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="14"/>`, u.kind, x, y, width, height)
	for i, l := range lines {
		fmt.Fprintf(b, `<text class="%st" x="%d" y="%d">%s</text>`, u.kind, x+14, y+25+22*i, html.EscapeString(l))
	}
	switch u.kind {
	case "gone":
		fmt.Fprintf(b, `<text class="note" x="%d" y="%d">newer message: draft discarded, asked again with all four</text>`, x+4, y+height+18)
	case "draft":
		fmt.Fprintf(b, `<text class="clock" x="%d" y="%d">draft</text>`, x+4, y+height+18)
	}
	return y + height + 10
}

// wrap breaks a text into lines of so many characters.
func wrap(text string, most int) (lines []string) {
	for _, word := range strings.Fields(text) {
		if n := len(lines); n > 0 && len(lines[n-1])+1+len(word) <= most {
			lines[n-1] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}
