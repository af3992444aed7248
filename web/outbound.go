package web

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"lastword/conversation"
)

var _ conversation.Channel = (*Server)(nil)

// mostPart bounds a part in bytes. Pages scroll, so few answers have two.
const mostPart = 48 << 10

// Compose implements [conversation.Channel]. The text stays Markdown: the page
// renders it, and nothing in it is HTML there.
func (s *Server) Compose(text string) []conversation.Part {
	var parts []conversation.Part
	for text = strings.TrimSpace(text); text != ""; {
		var piece string
		piece, text = split(text, mostPart)
		if piece = strings.TrimSpace(piece); piece != "" {
			parts = append(parts, conversation.Part{Text: piece})
		}
	}
	if len(parts) == 0 {
		parts = []conversation.Part{{Text: "…"}}
	}
	return parts
}

// split cuts a text that is too long where a reader would: between paragraphs,
// lines, words; if there is none of these, between characters.
func split(text string, most int) (first, rest string) {
	if len(text) <= most {
		return text, ""
	}
	head := strings.ToValidUTF8(text[:most], "")
	for _, at := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(head, at); i > most/2 {
			return head[:i], text[i+len(at):]
		}
	}
	return head, text[len(head):]
}

// form is the entities of a notice: that it is plain text, and what it is
// about.
type form struct {
	Notice conversation.NoticeCode `json:"notice"`
}

// Word implements [conversation.Channel].
func (s *Server) Word(n conversation.Notice) conversation.Part {
	p := conversation.Part{Text: noticeText(n, time.Now())}
	p.Entities, _ = json.Marshal(form{n.Code}) // a string always encodes
	if n.Press != nil {
		p.Buttons = []conversation.Button{{Press: *n.Press, Label: wordsFor(n.Language).labels[n.Press.Do]}}
	}
	return p
}

// Sequence implements [conversation.Channel]: each session counts its own
// messages.
func (s *Server) Sequence(chat int64) int64 { return chat }

// Send implements [conversation.Channel]. It writes to the log, once for each
// claim, and wakes the pages: when it returns an id, the message is on disk.
func (s *Server) Send(ctx context.Context, to conversation.Key, p conversation.Part, target conversation.Source) (int64, error) {
	var id int64
	err := s.store.Update(func(tx conversation.Tx) (err error) {
		if err := ctx.Err(); err != nil {
			return err // nobody waits for it any more: newer input has come
		}
		id, err = records{tx}.show(to.Chat, p, target)
		return err
	})
	switch {
	case err == nil:
		s.hub.each(to.Chat, func(c *conn) { c.mark(dirtyLog) })
		return id, nil
	case errors.Is(err, errNoSession), errors.Is(err, errNoMessage):
		return 0, &conversation.SendError{Kind: conversation.Refused, Err: err}
	case errors.Is(err, conversation.ErrBroken):
		return 0, &conversation.SendError{Kind: conversation.InDoubt, Err: err}
	}
	return 0, &conversation.SendError{Kind: conversation.NotSent, Err: err}
}

var (
	errNoSession = errors.New("the session does not exist")
	errNoMessage = errors.New("the message to be replaced does not exist")
)

// show writes a part as a message, or in the place of one.
func (t records) show(number int64, p conversation.Part, target conversation.Source) (int64, error) {
	session, found, err := t.session(number)
	if err == nil && !found {
		err = errNoSession
	}
	if err != nil {
		return 0, err
	}
	mark := claim(p)
	if p.Replaces != 0 {
		return p.Replaces, t.replace(&session, p)
	}
	if e, found, err := t.claimed(number, p.Above, mark); err != nil || found {
		return e.ID, err
	}
	e := entry{shown: shown{From: model, Text: p.Text, At: time.Now()}, Claim: mark}
	if target.Chat == number {
		e.Quotes = target.ID
	}
	var f form
	if len(p.Entities) > 0 && json.Unmarshal(p.Entities, &f) == nil {
		e.From = notice
		// That a message may not have arrived is never true here: it is in the
		// log or not. The id of that notice ends the engine's search for it.
		e.Hidden = f.Notice == conversation.Doubtful
	}
	e.setButtons(p.Buttons)
	err = t.put(&session, &e)
	return e.ID, err
}

// replace shows a part in the place of a message, or takes that away.
func (t records) replace(session *sessionRecord, p conversation.Part) error {
	e, found, err := t.entry(session.Number, p.Replaces)
	switch {
	case err != nil:
		return err
	case p.Text == "" && (!found || e.Gone):
		return nil
	case !found || e.From == user:
		return errNoMessage
	}
	before := e
	e.Gone = p.Text == ""
	e.Edited = !e.Gone
	e.Text = p.Text
	e.setButtons(p.Buttons)
	if before.Text == e.Text && before.Gone == e.Gone && slices.Equal(before.Presses, e.Presses) {
		return nil // done by the process before
	}
	return t.put(session, &e)
}

func (e *entry) setButtons(buttons []conversation.Button) {
	e.Presses, e.Buttons = buttons, nil
	for _, b := range buttons {
		e.Buttons = append(e.Buttons, button{b.Do, b.Page, b.Label})
	}
}

// Unbutton implements [conversation.Channel].
func (s *Server) Unbutton(_ context.Context, to conversation.Key, id int64) error {
	err := s.store.Update(func(tx conversation.Tx) error {
		t := records{tx}
		session, found, err := t.session(to.Chat)
		if err != nil || !found {
			return err
		}
		e, found, err := t.entry(to.Chat, id)
		if err != nil || !found || len(e.Presses) == 0 {
			return err
		}
		e.setButtons(nil)
		return t.put(&session, &e)
	})
	s.hub.each(to.Chat, func(c *conn) { c.mark(dirtyLog) })
	return err
}

// Probe implements [conversation.Channel]. The log knows the part by its claim.
// A part that is not there and still is to become visible is shown now: then the
// search is over.
func (s *Server) Probe(ctx context.Context, to conversation.Key, p conversation.Part, candidates []int64, stale bool) (met conversation.Probed, err error) {
	mark := claim(p)
	look := func(tx conversation.Tx) error {
		t := records{tx}
		e, found, err := t.claimed(to.Chat, p.Above, mark)
		if err != nil {
			return err
		}
		if found {
			met.Can = []int64{e.ID}
		}
		for _, id := range candidates {
			o, found, err := t.entry(to.Chat, id)
			if err != nil {
				return err
			}
			if found && o.From != user && o.ID != e.ID {
				met.Others = append(met.Others, id)
			}
		}
		return nil
	}
	if err := s.store.View(look); err != nil || stale || len(met.Can) > 0 {
		return met, err
	}
	p.State = conversation.Claimed
	id, err := s.Send(ctx, to, p, conversation.Source{})
	if err != nil {
		return met, err
	}
	met.Can = []int64{id}
	return met, nil
}

// Preview implements [conversation.Channel]. Whoever connects while an answer
// is written gets the newest one.
func (s *Server) Preview(_ context.Context, to conversation.Key, id conversation.Generation, text string) error {
	s.hub.write(to.Chat, preview{id, text})
	return nil
}

// Typing implements [conversation.Channel]. Pages know from the engine's
// records that it is at work.
func (s *Server) Typing(context.Context, conversation.Key) error { return nil }

// Answer implements [conversation.Channel].
func (s *Server) Answer(_ context.Context, query string, n conversation.Notice) error {
	text := toastText(n)
	number, id, _ := strings.Cut(query, "/")
	session, err := strconv.ParseInt(number, 10, 64)
	if err != nil || text == "" {
		return err
	}
	s.hub.each(session, func(c *conn) {
		if c.id == id {
			c.send(toast{of("toast"), n.Code, text})
		}
	})
	return nil
}
