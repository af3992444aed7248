// Package demo is a model that needs no service: it says which messages it was
// asked, streams slowly, and fails when it is told to.
package demo

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode"

	"lastword/conversation"
)

// Model implements conversation.Model. Zero is ready. A line of a message that
// is one of these words tells it what to do:
//
//	slow      write for half a minute
//	fail      refuse, if it is the last line: the next message is answered with it
//	stall     begin, and then say nothing more, likewise; the next try goes well
//	markdown  show what an answer can look like
//	html      answer with HTML and a script, which are to be shown as text
type Model struct {
	mu      sync.Mutex
	calls   int
	stalled map[string]bool // by what was asked
}

var _ conversation.Model = (*Model)(nil)

const (
	firstToken = 700 * time.Millisecond // until the first word
	pace       = 90 * time.Millisecond  // between two words
	slowPace   = 350 * time.Millisecond
	patience   = 12 * time.Second // how long a stalled stream is waited for, as llm.idle_timeout
)

var (
	errRefused = errors.New("the demo model was told to fail")
	errStalled = errors.New("the demo model was told to stall")
)

// Generate implements conversation.Model.
func (m *Model) Generate(ctx context.Context, prompt []conversation.PromptMessage, progress func(text string)) (conversation.Completion, error) {
	asked := prompt[len(prompt)-1].Text
	orders := orders(asked)
	last := order(asked[strings.LastIndex(asked, "\n")+1:])
	m.mu.Lock()
	m.calls++
	n := m.calls
	stall := last == "stall" && !m.stalled[asked]
	if stall {
		if m.stalled == nil {
			m.stalled = map[string]bool{}
		}
		m.stalled[asked] = true
	}
	m.mu.Unlock()

	start := time.Now()
	if err := sleep(ctx, firstToken); err != nil {
		return conversation.Completion{}, err
	}
	if last == "fail" {
		return conversation.Completion{}, &conversation.ModelError{Kind: conversation.Rejected, Err: errRefused}
	}
	wait := pace
	if orders["slow"] {
		wait = slowPace
	}
	text := answer(asked, orders, len(prompt), n)
	for i, end := range ends(text) {
		if progress != nil {
			progress(text[:end])
		}
		if stall && i == 12 {
			if err := sleep(ctx, patience); err != nil {
				return conversation.Completion{}, err
			}
			return conversation.Completion{}, &conversation.ModelError{Kind: conversation.Temporary, Err: errStalled}
		}
		if err := sleep(ctx, wait); err != nil {
			return conversation.Completion{}, err
		}
	}
	return conversation.Completion{
		Text: text, FirstToken: firstToken, Took: time.Since(start), Tokens: conversation.Tokens{Prompt: count(prompt), Completion: len(text) / 4},
	}, nil
}

// orders are the lines of a message that are one word long.
func orders(asked string) map[string]bool {
	out := map[string]bool{}
	for line := range strings.Lines(asked) {
		out[order(line)] = true
	}
	return out
}

func order(line string) string { return strings.ToLower(strings.Trim(strings.TrimSpace(line), ".!/")) }

// ends are where the words of a text end.
func ends(text string) (out []int) {
	for i, r := range text {
		if unicode.IsSpace(r) {
			out = append(out, i)
		}
	}
	return append(out, len(text))
}

func count(prompt []conversation.PromptMessage) (tokens int) {
	for _, p := range prompt {
		tokens += len(p.Text)/4 + 4
	}
	return tokens
}

// answer words what was asked, in lines: messages are joined by them.
func answer(asked string, orders map[string]bool, prompt, n int) string {
	switch {
	case orders["markdown"]:
		return sample
	case orders["html"]:
		return hostile
	}
	var list []string
	for line := range strings.Lines(asked) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, fmt.Sprintf("%d. %s", len(list)+1, line))
		}
	}
	what := fmt.Sprintf("**%d lines**, all in one call", len(list))
	if len(list) == 1 {
		what = "**one line**"
	}
	text := fmt.Sprintf("In call no. %d I was asked %s:\n\n%s\n\n", n, what, strings.Join(list, "\n"))
	if prompt > 1 {
		text += fmt.Sprintf("Before it came %d messages of our history, each as you see it here.\n\n", prompt-1)
	}
	if orders["slow"] {
		text += "And I was told to be slow, so there is time to write something more, to edit what you wrote, to stop me, to close this page, " +
			"or to kill the process and to start it again: " + strings.Repeat("nothing is lost, and nothing comes twice. ", 6)
		return strings.TrimSpace(text)
	}
	return text + hints[n%len(hints)]
}

// hints are what to try next.
var hints = []string{
	"*Try this:* write three lines, fast. They become one question.",
	"*Try this:* write `slow`, and then something more while I answer: my draft is thrown away, and I answer both.",
	"*Try this:* edit your last message. This answer is rewritten where it stands.",
	"*Try this:* write `fail`, or `stall`, and look at the inspector.",
	"*Try this:* write `slow`, and kill this process in mid-answer. Start it again with `--dir`: you get one answer.",
	"*Try this:* open this address in a second window.",
}

const sample = "### What an answer can look like\n\nSome **bold**, some *slanted*, some `code`, a [link](https://example.com).\n\n" +
	"1. First\n2. Second\n   - with a point\n   - and another\n\n> Somebody said this.\n\n```go\nfunc main() {\n\tfmt.Println(\"hello\")\n}\n```\n\n" +
	"| what | how much |\n|---|---:|\n| apples | 3 |\n| pears | 12 |\n\nThat is all."

const hostile = "<script>document.title = 'owned'</script> <img src=x onerror=\"document.title='owned'\"> " +
	"<b>not bold</b> [a link](javascript:document.title='owned') &lt;escaped&gt;"

func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
