package web

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coder/websocket"

	"lastword/conversation"
)

// handle carries out what a page asks for.
func (s *Server) handle(ctx context.Context, c *conn, r request) {
	switch {
	case r.kept():
		s.keep(ctx, c, r)
	case r.Type == "press":
		s.press(ctx, c, r)
	case r.Type == "history" && r.After >= 0:
		c.mu.Lock()
		c.cursor = r.After
		c.mu.Unlock()
		c.mark(dirtyLog)
	case r.Type == "ping":
		c.send(pong{of("pong"), r.N})
	case r.Type == "inspect":
		c.mu.Lock()
		c.watching = r.On && c.owner
		c.mu.Unlock()
		c.mark(dirtyState)
	default:
		c.end(closeProtocol, "there is no frame of that type")
	}
}

// Codes of negative acknowledgements.
const (
	badRequest = "bad_request" // without a client_msg_id that can be one; sending it again is no use
	tooLong    = "too_long"    //
	empty      = "empty"       //
	conflict   = "conflict"    // the client_msg_id stands for something else
	unknown    = "unknown"     // there is no such message of this session's user
	tooFast    = "too_fast"    // send it again later
	tryLater   = "try_later"   // it could not be stored, or not be handed over: send it again, unchanged
)

// keep stores what a page sends, hands it to the engine, and acknowledges it
// when it is on disk there (I1).
func (s *Server) keep(ctx context.Context, c *conn, r request) {
	refuse := func(n nack) {
		n.head, n.ClientID = of("message_nack"), r.ClientID
		c.send(n)
	}
	switch {
	case !clientID(r.ClientID):
		r.ClientID = ""
		refuse(nack{Code: badRequest})
		return
	case (r.Type == "message" || r.Type == "edit") && utf8.RuneCountInString(r.Text) > s.config.MaxMessage:
		refuse(nack{Code: tooLong, Limit: s.config.MaxMessage})
		return
	case (r.Type == "message" || r.Type == "edit") && strings.TrimSpace(r.Text) == "":
		refuse(nack{Code: empty})
		return
	case !c.messages.Allow():
		refuse(nack{Code: tooFast, After: messagePause.Milliseconds()})
		return
	}
	k, err := s.record(c, r)
	var why refusal
	switch {
	case errors.As(err, &why):
		refuse(nack{Code: string(why)})
		return
	case err != nil:
		s.log.Error("a message of the web chat could not be stored", "err", err)
		refuse(nack{Code: tryLater})
		return
	}
	if k.pending {
		err := s.receive(ctx, conversation.Batch{Identity: s.Identity(), Arrivals: s.arrivals(k.session, k.entry)})
		if err != nil {
			if ctx.Err() == nil {
				s.log.Warn("a message of the web chat is stored but not with the engine yet", "err", err)
			}
			refuse(nack{Code: tryLater})
			return
		}
		s.settle(waiting{k.session.Number, k.entry.ID})
	}
	s.hub.each(k.session.Number, func(o *conn) { o.mark(dirtyLog | dirtyState) })
	c.send(ack{of("message_ack"), r.ClientID, k.entry.ID, k.duplicate})
	s.tellPlace(c, r, k)
}

// clientID reports whether a page may call something so.
func clientID(id string) bool {
	return id != "" && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '-' && r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// refusal is why something is not stored: the code of a negative
// acknowledgement.
type refusal string

func (r refusal) Error() string { return string(r) }

// kept is what a request became.
type kept struct {
	session   sessionRecord
	entry     entry
	duplicate bool
	pending   bool // the engine may not have it
}

// record writes a request to the log, once, however often it comes: the
// client_msg_id stands for it.
func (s *Server) record(c *conn, r request) (k kept, err error) {
	digest := hashed(r.Type + "/" + strconv.FormatInt(r.ID, 10) + "/" + r.Text)
	now := time.Now()
	err = s.store.Update(func(tx conversation.Tx) error {
		t := records{tx}
		if k.session, err = t.open(c.hash, now); err != nil {
			return err
		}
		if err := s.sweep(t); err != nil {
			return err
		}
		var known receipt
		at := name("client", k.session.Number, r.ClientID)
		k.duplicate, err = t.read(at, &known)
		switch {
		case err != nil:
			return err
		case k.duplicate && known.Digest != digest:
			return refusal(conflict)
		case k.duplicate:
			k.entry, _, err = t.entry(k.session.Number, known.ID)
			if err != nil {
				return err
			}
			var w receipt
			k.pending, err = t.read(waiting{k.session.Number, known.ID}.name(), &w)
			return err
		}
		k.pending = true
		if k.entry, err = t.change(k.session, r, now); err != nil {
			return err
		}
		if c.language != "" {
			k.session.Language = c.language
		}
		v := receipt{ID: k.entry.ID, Digest: digest, At: now}
		return errors.Join(t.put(&k.session, &k.entry), t.write(name("client", k.session.Number, r.ClientID), receipt{k.entry.ID, digest, now}),
			t.write(waiting{k.session.Number, k.entry.ID}.name(), v))
	})
	if err == nil && c.session.number.Load() == 0 {
		s.hub.bind(c.session, k.session.Number)
	}
	return k, err
}

// change makes the entry of a request: a new one, or an old one with another
// text.
func (t records) change(s sessionRecord, r request, now time.Time) (entry, error) {
	if r.Type != "edit" {
		e := entry{shown: shown{From: user, Text: r.Text, ClientID: r.ClientID, At: now}, Kind: r.Type, Of: r.Generation}
		if r.Type != "message" {
			e.Text, e.Hidden = "", true
		}
		return e, nil
	}
	e, found, err := t.entry(s.Number, r.ID)
	if err == nil && (!found || e.From != user || e.Hidden || e.Gone) {
		err = refusal(unknown)
	}
	e.Edited = e.Edited || e.Text != r.Text
	e.Text = r.Text
	return e, err
}

// arrivals are what an entry is to the engine. All of them may come twice: the
// engine knows a message by its id, and an edit by its content.
func (s *Server) arrivals(session sessionRecord, e entry) []conversation.Arrival {
	a := conversation.Arrival{Key: s.key(session.Number), Source: conversation.Source{Chat: session.Number, ID: e.ID}}
	switch e.Kind {
	case "reset":
		a.Event = conversation.Reset{Language: session.Language}
	case "stop":
		a.Event = conversation.Stop{Language: session.Language, Of: e.Of}
	case "status":
		a.Event = conversation.AskStatus{Language: session.Language}
	default:
		in := conversation.Incoming{
			Message: conversation.Message{
				Source: a.Source, Author: conversation.Author{ID: session.Number}, Content: conversation.Content{Text: e.Text}, Sent: e.At,
			},
			Language: session.Language, Addressed: true,
		}
		a.Event = in
		if e.Edited {
			edit := a
			edit.Event = conversation.Edited{Incoming: in}
			return []conversation.Arrival{a, edit}
		}
	}
	return []conversation.Arrival{a}
}

// tellPlace tells a page what becomes of a message that came while an answer is
// written: it is answered after that one, together with what else waits, or
// that one is redone.
func (s *Server) tellPlace(c *conn, r request, k kept) {
	if r.Type != "message" {
		return
	}
	b := buffered{head: of("message_buffered"), ClientID: r.ClientID, ID: k.entry.ID}
	err := s.store.View(func(tx conversation.Tx) error {
		st, err := readState(tx, s.key(k.session.Number))
		if err != nil || !st.Lease.Held() || st.Lease.Cancelled != "" && st.Lease.Cancelled != conversation.WasSuperseded {
			return err
		}
		b.Together = st.Lease.Cancelled == conversation.WasSuperseded
		n := 0
		for _, m := range st.Waiting() {
			if m.Version > st.Lease.Version {
				n++
				if m.Source.ID == k.entry.ID {
					b.Position = n
				}
			}
		}
		return nil
	})
	if err == nil && b.Position > 0 {
		c.send(b)
	}
}

// press hands a press of a button to the engine. The page names the message
// and the action; what the button means is in the log, so that none can be made
// up.
func (s *Server) press(ctx context.Context, c *conn, r request) {
	number := c.session.number.Load()
	if number == 0 || !c.messages.Allow() {
		return
	}
	p := conversation.Pressed{Query: strconv.FormatInt(number, 10) + "/" + c.id, Message: r.ID, Language: c.language}
	err := s.store.View(func(tx conversation.Tx) error {
		e, _, err := records{tx}.entry(number, r.ID)
		for _, b := range e.Presses {
			if b.Do == r.Do && b.Page == r.Page {
				p.Press = b.Press
			}
		}
		return err
	})
	if err == nil {
		err = s.receive(ctx, conversation.Batch{Identity: s.Identity(), Arrivals: []conversation.Arrival{{Key: s.key(number), Event: p}}})
	}
	if err != nil && ctx.Err() == nil {
		s.log.Error("a press could not be handed over", "err", err)
		c.end(websocket.StatusTryAgainLater, "not stored")
	}
}
