package conversation

import "time"

// Batch is what a channel received at once. It is stored whole or not at all.
type Batch struct {
	Identity string // of the bot it was sent to, see [Key.Identity]
	Offset   int64  // from where the channel goes on once the batch is stored
	Arrivals []Arrival
}

// Arrival is one update of a channel.
type Arrival struct {
	Update int64  // the channel's number of the update; 0 if it has none
	Digest string // of the raw update: tells a redelivery from a numbering that started anew
	Key    Key
	Source Source // the message that it is, or is about; also of commands and of what is ignored; zero if none
	Event  Event  // nil if there is nothing to do but to know that the message exists
}

// Event is something that happened to a conversation; the rules say what
// follows. Those a channel makes: [Incoming], [Edited], [Deleted], [Reset],
// [Stop], [AskStatus], [Say], [Pressed], [Left], [Returned], [Migrated].
type Event interface{ event() }

// Incoming is a new message.
type Incoming struct {
	Message   Message       // Version and Changed are set by the rules
	Language  string        // of the author's client, an IETF tag
	Group     bool          // other people are in the chat
	Addressed bool          // to the bot; always true in private chats
	Hold      time.Duration // wait at least so long for what belongs to it: a client that split a long text, an album, a forward's comment
}

// Edited is a message that its author changed. Only Source, Author, Content
// and Sent of the message are read.
type Edited struct {
	Incoming
	Turn *Turn // the turn of the history that holds the message, if one does; set by the engine
}

// Deleted is a message that its author took back.
type Deleted struct {
	Source Source
	Turn   *Turn // as in Edited
}

// Reset forgets the conversation; Stop ends what is under way; AskStatus asks
// what is. Language is that of the person.
type (
	Reset struct{ Language string }
	Stop  struct {
		Language string
		Of       Generation // whose preview was stopped; 0 for whatever is under way
	}
	AskStatus struct{ Language string }
)

// Say shows a notice the channel prepared.
type Say struct{ Notice Notice }

// Pressed is a press of a button. What it says comes from outside: the rules
// check it.
type Pressed struct {
	Press
	Query    string // names the press to the channel, which answers it; "" if it needs no answer
	Message  int64  // id of the message under which the button is
	Language string // of whoever pressed
	Turn     *Turn  // the turn that it is about, if there is one; set by the engine
	Parts    []Part // of TurnPage, the page as the channel shows it; set by the engine
}

// Unseen means that a model call takes long and nobody sees that it is under
// way.
type Unseen struct{ Work Lease }

// Left means that the chat cannot be written to any more: the user blocked the
// bot or the group removed it. Returned means that it can again.
type (
	Left     struct{}
	Returned struct{}
)

// Migrated means that the chat has a new key. The engine moves the records.
type Migrated struct{ To Key }

// Due means that a deadline of the conversation has passed, see [State.Next].
type Due struct{}

// Recovered is the first event of a conversation with unfinished business after
// the process started. It comes with the proof that no other process works on
// it, such as the lock on a bbolt file.
type Recovered struct{}

// Generated is how a model call ended.
type Generated struct {
	Work     Lease  // as it was when the call began
	Text     string // whole; if the call was cancelled, what was written so far
	Parts    []Part // the text as the channel shows it
	Estimate int    // estimate of the prompt's tokens that Meter reports
	Budget   int    // prompt tokens that the model was seen to take, if fewer than configured; 0 if nothing was learned
	Meter    Meter
	Err      error // nil, a *ModelError, or what else went wrong; context.Canceled if it was cancelled
}

// Delivered is how the send of a part ended.
type Delivered struct {
	Incarnation string
	Reply       uint64
	Index       int
	Receipt     int64      // id of the visible message, if Err is nil
	Begun       time.Time  // when the call began
	Err         *SendError //
}

// Looked is what a look for a part of unknown outcome found.
type Looked struct {
	Incarnation string
	Reply       uint64
	Index       int
	Finding     Finding
	Receipt     int64   // of Found
	Others      []int64 // messages of the bot that the look has met
}

// Finding is the result of a look.
type Finding string

// What a look can find.
const (
	Found   Finding = "found"   // it is visible
	Absent  Finding = "absent"  // every message that it could be is another one
	Unclear Finding = "unclear" // it could not be found, but it could still be there

	NotLooked Finding = "not_looked" // the channel could not be asked
)

func (Incoming) event()  {}
func (Edited) event()    {}
func (Deleted) event()   {}
func (Reset) event()     {}
func (Stop) event()      {}
func (AskStatus) event() {}
func (Say) event()       {}
func (Pressed) event()   {}
func (Unseen) event()    {}
func (Left) event()      {}
func (Returned) event()  {}
func (Migrated) event()  {}
func (Due) event()       {}
func (Recovered) event() {}
func (Generated) event() {}
func (Delivered) event() {}
func (Looked) event()    {}
