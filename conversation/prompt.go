package conversation

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// prompt is what the model is asked: the history as far as it fits, and the
// turn as one message of the user.
type prompt struct {
	messages []PromptMessage
	estimate int // tokens, corrected by nothing
	turns    int // of the history that are in it
}

// newPrompt builds the prompt of a turn within a budget of estimated tokens.
// history lists the turns before it, newest first. If the turn has a reply, a
// different one is wanted.
func newPrompt(history iter.Seq2[Turn, error], s *State, turn Turn, budget int) (prompt, error) {
	asked := []PromptMessage{{User, render(turn.Messages, s.Group)}}
	if turn.Reply != "" {
		// Before the question, so that this still is what the prompt ends with.
		asked = []PromptMessage{{User, another}, {Assistant, turn.Reply}, asked[0]}
	}
	var p prompt
	for _, m := range asked {
		p.estimate += estimate(m.Text) + perMessage
	}
	first := firstOffset(s.Turned, budget-max(p.estimate, budget/4), budget/4)
	var turns []Turn
	for t, err := range history {
		if err != nil {
			return prompt{}, err
		}
		if t.Offset < first || budget <= 0 {
			break
		}
		if len(t.Messages) > 0 { // else the person took all of it back
			turns = append(turns, t)
		}
	}
	for _, t := range slices.Backward(turns) {
		p.messages = append(p.messages, PromptMessage{User, render(t.Messages, s.Group)}, PromptMessage{Assistant, t.Reply})
		p.estimate += t.Tokens
	}
	p.turns = len(turns)
	p.messages = append(p.messages, asked...)
	return p, nil
}

// another asks for a different answer. Without it, a model whose temperature is
// low would say the same again.
const another = "[What follows is your answer to my next message. I would like a different one.]"

// firstOffset is where in the history a prompt begins, so that what follows
// fits into room. It moves in whole blocks: while it stands still, the prompts
// of a conversation begin alike and a provider's prompt cache keeps hitting.
func firstOffset(total, room, block int) int {
	if over := total - room; over > 0 {
		block = max(block, 1)
		return (over + block - 1) / block * block
	}
	return 0
}

// render shows messages to the model, in order, as one text. In a group every
// message carries its author's name. Identical repeats are collapsed: people
// send a text again when nothing seems to happen.
func render(messages []Message, group bool) string {
	type said struct {
		author  int64
		content Content
	}
	count := map[said]int{}
	var order []said
	names := map[int64]string{}
	for _, m := range messages {
		s := said{m.Author.ID, m.Content}
		if count[s] == 0 {
			order = append(order, s)
		}
		count[s]++
		names[m.Author.ID] = m.Author.Name
	}
	var out []string
	for _, s := range order {
		text := renderContent(s.content)
		if group && names[s.author] != "" {
			text = names[s.author] + ": " + text
		}
		if n := count[s]; n > 1 {
			text += fmt.Sprintf("\n[sent %d times]", n)
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// renderContent shows one message. What is not the person's own text stands in
// brackets on a line of its own.
func renderContent(c Content) string {
	var lines []string
	if c.Forward != "" {
		lines = append(lines, "[forwarded from "+c.Forward+"]")
	}
	if c.Quote != "" {
		who := "an earlier message"
		if c.Quoted != "" {
			who = c.Quoted
		}
		lines = append(lines, fmt.Sprintf("[in reply to %s: %q]", who, c.Quote))
	}
	if c.Text != "" {
		lines = append(lines, c.Text)
	}
	if c.Attachment != "" {
		lines = append(lines, "[attached, and not readable here: "+c.Attachment+"]")
	}
	if len(lines) == 0 {
		return "[empty message]"
	}
	return strings.Join(lines, "\n")
}
