package web

import (
	"encoding/json"
	"time"

	"lastword/conversation"
)

// protocolVersion is the v of every frame. A change that an older page would
// misread raises it.
const protocolVersion = 1

// Close codes. Others are those of RFC 6455: 1001 the server ends, 1009 a frame
// is too big, 1013 try again later.
const (
	closeProtocol  = 4000 // a frame that makes no sense
	closeTooFast   = 4008 // far too many frames
	closeElsewhere = 4009 // the session is open in another window, or was taken over by one
)

// request is a frame of the page.
type request struct {
	V          int                     `json:"v"`
	Type       string                  `json:"type"`
	ClientID   string                  `json:"client_msg_id"` // of what has to be kept: made by the page, at most 64 of A-Z a-z 0-9 _ -
	Text       string                  `json:"text"`          // of message and edit
	ID         int64                   `json:"id"`            // of edit and press: the message that it is about
	Do         conversation.Action     `json:"do"`            // of press
	Page       int                     `json:"page"`          // of press
	After      int64                   `json:"after"`         // of hello and history: the last sequence number that the page has
	Session    string                  `json:"session"`       // of hello: the session that the page shows, "" for none
	TakeOver   bool                    `json:"take_over"`     // of hello
	Language   string                  `json:"language"`      // of hello, an IETF tag
	Generation conversation.Generation `json:"generation"`    // of stop: of the preview that is to end; 0 for whatever is under way
	N          int64                   `json:"n"`             // of ping: comes back with pong
	On         bool                    `json:"on"`            // of inspect
}

// kept reports whether a request is stored before it is acknowledged.
func (r request) kept() bool {
	switch r.Type {
	case "message", "edit", "reset", "stop", "status":
		return true
	}
	return false
}

// head is what every frame of the server begins with.
type head struct {
	V    int    `json:"v"`
	Type string `json:"type"`
}

func of(kind string) head { return head{protocolVersion, kind} }

// encode never fails: frames are structs of what JSON has.
func encode(frame any) []byte {
	data, err := json.Marshal(frame)
	if err != nil {
		panic(err)
	}
	return data
}

// The frames of the server.
type (
	welcome struct {
		head
		Connection   string                    `json:"connection"`
		Session      string                    `json:"session"` // names it, and opens nothing
		Last         int64                     `json:"last"`    // newest sequence number of the session
		OnNewMessage conversation.OnNewMessage `json:"on_new_message"`
		Connections  Connections               `json:"connections"`
		MaxMessage   int                       `json:"max_message"`
		Inspector    bool                      `json:"inspector"` // this page may ask for it
	}
	history struct {
		head
		Messages []shown `json:"messages"`
		Last     int64   `json:"last"`            // the page has everything up to here
		More     bool    `json:"more"`            // further frames follow
		Fresh    bool    `json:"fresh,omitempty"` // of a session that does not know what the page has: forget that
	}
	ack struct {
		head
		ClientID  string `json:"client_msg_id"`
		ID        int64  `json:"id,omitempty"`
		Duplicate bool   `json:"duplicate,omitempty"`
	}
	nack struct {
		head
		ClientID string `json:"client_msg_id"`
		Code     string `json:"code"`
		Limit    int    `json:"limit,omitempty"`          // of too_long, in characters
		After    int64  `json:"retry_after_ms,omitempty"` // of too_fast
	}
	buffered struct {
		head
		ClientID string `json:"client_msg_id"`
		ID       int64  `json:"id"`
		Position int    `json:"position"`           // among what is answered together, from 1
		Together bool   `json:"together,omitempty"` // with what is being answered: that answer is redone
	}
	previewed struct {
		head
		Generation conversation.Generation `json:"generation"`
		Text       string                  `json:"text"`
	}
	toast struct {
		head
		Code conversation.NoticeCode `json:"code"`
		Text string                  `json:"text"`
	}
	pong struct {
		head
		N int64 `json:"n"`
	}
)

// shown is a message as the page sees it.
type shown struct {
	ID       int64     `json:"id"`  // its place
	Seq      int64     `json:"seq"` // of its last change
	From     from      `json:"from"`
	Text     string    `json:"text,omitempty"`
	ClientID string    `json:"client_msg_id,omitempty"`
	Quotes   int64     `json:"quotes,omitempty"` // id of the message that it answers
	Buttons  []button  `json:"buttons,omitempty"`
	At       time.Time `json:"at"`
	Edited   bool      `json:"edited,omitempty"`
	Gone     bool      `json:"gone,omitempty"` // taken away: show nothing in its place
}

// button is what can be pressed under a message. What it means stays here: the
// page names the message and the action.
type button struct {
	Do    conversation.Action `json:"do"`
	Page  int                 `json:"page,omitempty"`
	Label string              `json:"label"`
}

// from is whom a message is from.
type from string

const (
	user   from = "user"
	model  from = "bot"    // Markdown
	notice from = "notice" // plain text of the program
)
