package conversation

import "strconv"

// Action is what pressing a button asks for.
type Action string

// What a button can ask for.
const (
	Regenerate Action = "regenerate" // another answer in the place of this one
	TurnPage   Action = "page"       // another of the answers that there are
	ShowAnswer Action = "show"       // a part whose outcome is unknown: whoever presses does not see it
	StopAnswer Action = "stop"       // of the model
)

// Press is what a button says when it is pressed. It holds all that is needed
// to tell whether it is still current; the incarnation cannot be guessed.
type Press struct {
	Do          Action     `json:"do"`
	Incarnation string     `json:"incarnation"`
	Turn        Version    `json:"turn,omitempty"`       // of the history that it is about
	Generation  Generation `json:"generation,omitempty"` // of the reply that it is about
	Page        int        `json:"page,omitempty"`       // of TurnPage: which answer to show, from 1
}

// Button is what people can press under a message.
type Button struct {
	Press
	Label string `json:"label"`
}

// Regenerating is a policy.
type Regenerating string

// The policies of turn.regenerate.
const (
	LastRequested Regenerating = "last_requested" // a second press supersedes the first
	FirstAccepted Regenerating = "first_accepted" // a second press does nothing while the first is worked on
	Choose        Regenerating = "choose"         // all answers are kept, and the user turns the pages
	NoRegenerate  Regenerating = "off"            // no buttons under replies
)

// mostVariants bounds how many answers of one turn are kept; the oldest goes.
const mostVariants = 10

// replyButtons are what stands under the last part of a reply: the pages if
// there are several, and the way to another answer.
func (t *step) replyButtons(turn Version, g Generation, page, pages int) []Button {
	if t.rules.Regenerate == NoRegenerate {
		return nil
	}
	press := Press{Do: Regenerate, Incarnation: t.Incarnation, Turn: turn, Generation: g}
	var buttons []Button
	if pages > 1 {
		to := func(n int, label string) {
			p := press
			p.Do, p.Page = TurnPage, n
			buttons = append(buttons, Button{p, label})
		}
		if page > 1 {
			to(page-1, "◀")
		}
		to(page, strconv.Itoa(page)+"/"+strconv.Itoa(pages))
		if page < pages {
			to(page+1, "▶")
		}
	}
	return append(buttons, Button{press, "↻"})
}

// putButtons puts buttons under the last part of a reply that has a text.
func putButtons(parts []Part, b []Button) {
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Text != "" {
			parts[i].Buttons = b
			return
		}
	}
}
