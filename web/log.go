package web

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lastword/conversation"
)

// The log is what a session shows, in records of the channel. Because it is in
// the same store as the engine's records, what is on the screen is known
// exactly, and a send has no unknown outcome.
//
//	record                         value
//	web/sessions                   how many there are
//	web/secret/<hash>              number of the session with that secret
//	web/session/<number>           session
//	web/log/<number>/<id>          entry
//	web/change/<number>/<seq>      id of the entry that changed last with that number
//	web/client/<number>/<client>   receipt: what a client_msg_id stands for
//	web/pending/<number>/<id>      receipt of something that the engine may not have
//	web/owner/<hash>               nothing: whoever has that secret is the owner
//
// Numbers are 16 hexadecimal digits, so that they sort. Secrets are never
// stored, only their SHA-256.
type records struct{ conversation.Tx }

// sessionRecord is the record of a session.
type sessionRecord struct {
	Number   int64     `json:"number"` // the chat of its conversation key
	IDs      int64     `json:"ids"`    // highest id given to a message
	Seq      int64     `json:"seq"`    // highest number given to a change
	Made     time.Time `json:"made"`
	Language string    `json:"language,omitempty"`
}

// entry is a message of the log, or a command, which only takes its place.
type entry struct {
	shown
	Kind    string                  `json:"kind,omitempty"` // of a user's: what the request was
	Of      conversation.Generation `json:"of,omitempty"`   // of stop
	Hidden  bool                    `json:"hidden,omitempty"`
	Presses []conversation.Button   `json:"presses,omitempty"`
	Claim   string                  `json:"claim,omitempty"` // see claim
}

// receipt is what a request of the page became.
type receipt struct {
	ID     int64     `json:"id"`
	Digest string    `json:"digest"` // of the request: the same client_msg_id must not stand for another
	At     time.Time `json:"at"`
}

func name(kind string, number int64, rest ...any) string {
	s := fmt.Sprintf("web/%s/%016x", kind, number)
	for _, r := range rest {
		if n, ok := r.(int64); ok {
			s += fmt.Sprintf("/%016x", n)
		} else {
			s += fmt.Sprintf("/%v", r)
		}
	}
	return s
}

// hashed is how a secret is stored and named in memory.
func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// read decodes a record; false if there is none. The error shows nothing of it.
func (t records) read(name string, into any) (bool, error) {
	data, err := t.Record(name)
	if err != nil || data == nil {
		return false, err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return false, fmt.Errorf("web: the record %s is damaged (%d bytes, %T)", name, len(data), err)
	}
	return true, nil
}

func (t records) write(name string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("web: encoding %s: %w", name, err)
	}
	return t.PutRecord(name, data)
}

// number finds the session of a secret; 0 if there is none.
func (t records) number(hash string) (n int64, err error) {
	_, err = t.read("web/secret/"+hash, &n)
	return n, err
}

func (t records) session(number int64) (s sessionRecord, found bool, err error) {
	found, err = t.read(name("session", number), &s)
	return s, found, err
}

// open finds the session of a secret, or makes it.
func (t records) open(hash string, now time.Time) (sessionRecord, error) {
	n, err := t.number(hash)
	if err != nil {
		return sessionRecord{}, err
	}
	if n != 0 {
		s, found, err := t.session(n)
		if err == nil && !found {
			err = fmt.Errorf("web: the record %s is missing", name("session", n))
		}
		return s, err
	}
	if _, err := t.read("web/sessions", &n); err != nil {
		return sessionRecord{}, err
	}
	n++
	s := sessionRecord{Number: n, Made: now}
	return s, errors.Join(t.write("web/sessions", n), t.write("web/secret/"+hash, n), t.write(name("session", n), s))
}

// put writes a new or a changed entry as the newest change of its session.
func (t records) put(s *sessionRecord, e *entry) error {
	old := e.Seq
	s.Seq++
	e.Seq = s.Seq
	if e.ID == 0 {
		s.IDs++
		e.ID = s.IDs
	}
	errs := []error{
		t.write(name("log", s.Number, e.ID), e), t.write(name("change", s.Number, e.Seq), e.ID), t.write(name("session", s.Number), s),
	}
	if old != 0 {
		errs = append(errs, t.DeleteRecord(name("change", s.Number, old)))
	}
	return errors.Join(errs...)
}

func (t records) entry(number, id int64) (e entry, found bool, err error) {
	found, err = t.read(name("log", number, id), &e)
	return e, found, err
}

// mostRead bounds a piece of the log in bytes of text, give or take an entry.
const mostRead = 256 << 10

// changes lists up to limit entries that changed after a sequence number, in
// the order of their changes.
func (t records) changes(number, after int64, limit int) (out []entry, more bool, err error) {
	var ids []int64
	for r, err := range t.Records(name("change", number)+"/", name("change", number, after+1)) {
		if err != nil {
			return nil, false, err
		}
		if len(ids) == limit {
			more = true
			break
		}
		var id int64
		if err := json.Unmarshal(r.Value, &id); err != nil {
			return nil, false, fmt.Errorf("web: the record %s is damaged", r.Name)
		}
		ids = append(ids, id)
	}
	size := 0
	for i, id := range ids {
		e, found, err := t.entry(number, id)
		if err != nil {
			return nil, false, err
		}
		if found {
			out = append(out, e)
		}
		if size += len(e.Text); size > mostRead && i < len(ids)-1 {
			return out, true, nil
		}
	}
	return out, more, nil
}

// claim names one send of one part for ever: the highest id that the engine
// knew when it claimed the part, which grows with every part that is shown, and
// what it shows. A part that is sent again after a crash has the same one.
// Notices have none: the engine gives up one whose outcome it does not know.
func claim(p conversation.Part) string {
	if p.State != conversation.Claimed && p.State != conversation.Unknown {
		return ""
	}
	data, _ := json.Marshal(struct {
		Above    int64
		Text     string
		Entities json.RawMessage
		Buttons  []conversation.Button
	}{p.Above, p.Text, p.Entities, p.Buttons}) // strings and numbers always encode
	return hashed(string(data))
}

// claimed finds the entry that a claim has led to.
func (t records) claimed(number, above int64, claim string) (e entry, found bool, err error) {
	if claim == "" {
		return e, false, nil
	}
	for r, err := range t.Records(name("log", number)+"/", name("log", number, above+1)) {
		if err != nil {
			return entry{}, false, err
		}
		var e entry
		if err := json.Unmarshal(r.Value, &e); err != nil {
			return entry{}, false, fmt.Errorf("web: the record %s is damaged (%d bytes, %T)", r.Name, len(r.Value), err)
		}
		if e.Claim == claim {
			return e, true, nil
		}
	}
	return entry{}, false, nil
}

// clientKept is how long the server knows a client_msg_id.
const clientKept = 24 * time.Hour

// forget removes what is known of client_msg_ids from before a time.
func (t records) forget(before time.Time) error {
	var old []string
	for r, err := range t.Records("web/client/", "") {
		if err != nil {
			return err
		}
		var v receipt
		if json.Unmarshal(r.Value, &v) != nil || v.At.Before(before) {
			old = append(old, r.Name)
		}
	}
	var errs []error
	for _, n := range old {
		errs = append(errs, t.DeleteRecord(n))
	}
	return errors.Join(errs...)
}

// waiting is a receipt of something that the engine may not have.
type waiting struct {
	number, id int64
}

func (w waiting) name() string { return name("pending", w.number, w.id) }

// pending lists what the engine may not have.
func (t records) pending() (out []waiting, err error) {
	for r, err := range t.Records("web/pending/", "") {
		if err != nil {
			return nil, err
		}
		var w waiting
		if _, err := fmt.Sscanf(strings.TrimPrefix(r.Name, "web/pending/"), "%x/%x", &w.number, &w.id); err == nil {
			out = append(out, w) // else the name is damaged: it is nobody's
		}
	}
	return out, nil
}
