package llm

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// What an answer may measure.
const (
	maxEvent  = 4 << 20 // one line, or one event of several lines
	maxAnswer = 8 << 20 // the text; a body that is not an event stream
)

var (
	errPage      = errors.New("the service sent a page (HTML or XML) in place of an answer: is llm.base_url right?")
	errEventSize = errors.New("the service sent a line of more than 4 MiB")
)

// event is one piece of an answer.
type event struct {
	name string // "error", or what else the stream calls it; mostly empty
	data []byte // JSON, if nothing is wrong; valid until the next event
	last bool   // the body ended inside it: it may lack its end
	body bool   // it is no event of a stream but a document of its own
}

// events reads the body of an answer: an event stream as the HTML standard
// describes it, in the forms in which it occurs. The blank line between events
// may be missing, the newline of the last line too, and errors may stand
// outside of events. A service that ignores the wish for a stream sends one
// JSON document, which is read as one event.
type events struct {
	r       *bufio.Reader
	started bool
	docs    *json.Decoder // set if the body is not an event stream
	err     error         // what ended the body
	cr      bool          // the last line ended with \r: a \n that follows belongs to it
	name    string        // of the event that the next data belongs to
	line    []byte        // reused
	data    []byte        // of an event that goes on
}

func newEvents(r io.Reader) *events { return &events{r: bufio.NewReader(r)} }

// next returns the next event that has data, or io.EOF at the end of the body.
func (s *events) next() (event, error) {
	if !s.started {
		if err := s.start(); err != nil {
			return event{}, err
		}
		s.started = true
	}
	if s.docs != nil {
		return s.document()
	}
	for {
		line, err := s.readLine()
		if err != nil && (errors.Is(err, errEventSize) || len(line) == 0) {
			return s.rest(err)
		}
		if e, ok := s.takeLine(line); ok {
			e.last = err != nil
			return e, nil
		}
		if len(s.data) > maxEvent {
			return event{}, errEventSize
		}
	}
}

// start looks at the first byte that says something. The content type does
// not: it is wrong too often.
func (s *events) start() error {
	if bom, _ := s.r.Peek(3); string(bom) == "\uFEFF" {
		_, _ = s.r.Discard(3)
	}
	for {
		b, err := s.r.ReadByte()
		if err != nil {
			return err
		}
		switch b {
		case ' ', '\t', '\r', '\n':
			continue
		case '<':
			return errPage
		case '{', '[':
			_ = s.r.UnreadByte() // cannot fail after ReadByte
			s.docs = json.NewDecoder(io.LimitReader(s.r, maxAnswer))
			return nil
		}
		return s.r.UnreadByte()
	}
}

// document reads a body that is JSON: one document, or one a line.
func (s *events) document() (event, error) {
	var doc json.RawMessage
	if err := s.docs.Decode(&doc); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) { // its text repeats a character of the body
			err = errForm
		}
		return event{}, err
	}
	return event{data: doc, body: true}, nil
}

// rest returns an event that the end of the body cut short.
func (s *events) rest(err error) (event, error) {
	if len(s.data) == 0 || errors.Is(err, errEventSize) {
		return event{}, err
	}
	e := event{name: s.name, data: s.data, last: true}
	s.data = nil
	return e, nil
}

// readLine reads a line that ends with \n, \r or both. At the end of the body
// it returns what there is of a line, with the error.
func (s *events) readLine() ([]byte, error) {
	s.line = s.line[:0]
	for s.err == nil {
		var b byte
		if b, s.err = s.r.ReadByte(); s.err != nil {
			break
		}
		after := s.cr
		s.cr = b == '\r'
		switch {
		case b == '\n' && after:
		case b == '\n' || b == '\r':
			return s.line, nil
		case len(s.line) == maxEvent:
			return nil, errEventSize
		default:
			s.line = append(s.line, b)
		}
	}
	return s.line, s.err
}

// takeLine returns the event that a line completes.
func (s *events) takeLine(line []byte) (event, bool) {
	if len(line) == 0 {
		e := event{name: s.name, data: s.data}
		s.name, s.data = "", nil
		return e, len(e.data) > 0
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch {
	case line[0] == '{': // an error that a proxy wrote into the stream
		return s.add(line)
	case string(field) == "error": // llama.cpp
		return event{name: "error", data: value}, true
	case string(field) == "event":
		s.name = string(value)
	case string(field) == "data":
		return s.add(value)
	}
	return event{}, false
}

// add collects the data of an event. A line that is whole by itself is an
// event, because not all services separate events by a blank line.
func (s *events) add(value []byte) (event, bool) {
	if len(s.data) == 0 && whole(value) {
		return event{name: s.name, data: value}, len(value) > 0
	}
	if len(s.data) > 0 {
		s.data = append(s.data, '\n')
	}
	s.data = append(s.data, value...)
	return event{}, false
}

// whole reports whether data need not be continued by further lines.
func whole(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || data[0] != '{' && data[0] != '[' || isDone(data) {
		return true
	}
	return json.Valid(data)
}

func isDone(data []byte) bool { return string(bytes.TrimSpace(data)) == "[DONE]" }
