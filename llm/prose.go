package llm

import "strings"

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
	blanks     = " \t\r\n"
)

// prose collects the text of an answer and hides the block of thoughts that
// local servers leave at its beginning.
type prose struct {
	all  strings.Builder
	part prosePart
	at   int // where to look on; where the text begins once it has
}

type prosePart int

const (
	unclear  prosePart = iota // what came so far could be the beginning of the tag
	thinking                  // inside the block
	between                   // after it, before the text
	speaking
)

// add appends a piece.
func (p *prose) add(s string) error {
	if p.all.Len()+len(s) > maxAnswer {
		return errTooLong
	}
	p.all.WriteString(s)
	for p.step() {
	}
	return nil
}

// step looks on and reports whether there is more to look at. What was looked
// at is not looked at again: a block can be long and come in small pieces.
func (p *prose) step() bool {
	all := p.all.String()
	rest := all[p.at:]
	switch p.part {
	case unclear, between:
		trimmed := strings.TrimLeft(rest, blanks)
		p.at += len(rest) - len(trimmed)
		switch {
		case trimmed == "":
			return false
		case p.part == between:
			p.part = speaking
		case strings.HasPrefix(trimmed, thinkOpen):
			p.part, p.at = thinking, p.at+len(thinkOpen)
			return true
		case !strings.HasPrefix(thinkOpen, trimmed):
			p.part, p.at = speaking, 0
		}
		return false
	case thinking:
		if i := strings.Index(rest, thinkClose); i >= 0 {
			p.part, p.at = between, p.at+i+len(thinkClose)
			return true
		}
		p.at = max(p.at, len(all)-len(thinkClose)+1)
	}
	return false
}

// size is the length of all that came.
func (p *prose) size() int { return p.all.Len() }

// shown is the text that can be shown already.
func (p *prose) shown() string {
	if p.part != speaking {
		return ""
	}
	return p.all.String()[p.at:]
}

// whole is the text once nothing more will come.
func (p *prose) whole() string {
	if p.part == unclear {
		return p.all.String()
	}
	return p.shown()
}
