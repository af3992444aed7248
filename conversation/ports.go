package conversation

import (
	"context"
	"iter"
	"time"
)

// Model is a language model behind some service.
type Model interface {
	// Generate asks for one completion and returns it whole. It blocks while
	// too many calls of this process are in flight. The prompt alternates
	// roles and ends with the user's; what goes before it (a system prompt) is
	// the implementation's. progress, if not nil, is called from the calling
	// goroutine with the text so far each time it grows.
	//
	// A returned completion is complete: its text is not blank and the service
	// said that it had ended. Everything else is an error, a [*ModelError]
	// unless ctx ended; then it is [ErrNotAsked] too, if nothing had left.
	Generate(ctx context.Context, prompt []PromptMessage, progress func(text string)) (Completion, error)
}

// PromptMessage is one message of a prompt.
type PromptMessage struct {
	Role Role
	Text string
}

// Role is who a prompt message is from.
type Role string

// The roles of a prompt.
const (
	User      Role = "user"
	Assistant Role = "assistant"
)

// Completion is what a model answered.
type Completion struct {
	Text       string
	Tokens     Tokens        // as the service reported them; zero if it did not
	FirstToken time.Duration // from the start of the call to the first piece of text
	Took       time.Duration // from the start of the call to its end, waiting for a free place not counted
}

// Channel shows messages to people. Its methods may be called at the same time.
type Channel interface {
	// Compose renders a model's text and splits it into parts that the channel
	// takes, at least one, none of them blank. Only Text and Entities are set.
	// It does no I/O.
	Compose(text string) []Part

	// Word renders a notice as one part. It does no I/O.
	Word(n Notice) Part

	// Send shows one part and returns the id of the visible message. A part
	// that replaces a message is shown in its place by an edit, and if it has
	// no text, the message is removed; doing so twice is no error. target, if
	// not zero, is the message to quote; that it is gone is no reason to fail.
	// All errors are [*SendError], and say what is known of the outcome.
	// Send returns in bounded time.
	Send(ctx context.Context, to Key, part Part, target Source) (id int64, err error)

	// Preview shows what the model has written so far, "" for nothing yet, in
	// the place of the preview before. It is disposable: it may do nothing. An
	// error means that the chat has no previews. It vanishes by itself after a
	// while, and when a message of the bot appears.
	Preview(ctx context.Context, to Key, id Generation, text string) error

	// Typing shows for some seconds that the bot is at work; call it again
	// every TypingInterval.
	Typing(ctx context.Context, to Key) error

	// Probe looks for a part whose outcome is unknown among the ids given,
	// without anybody seeing it. stale means that the part must not become
	// visible by it: then the channel may not find out whether a message of the
	// bot is the part by making it the part. An error means that it could not
	// be looked for; what was met until then is returned all the same.
	Probe(ctx context.Context, to Key, part Part, candidates []int64, stale bool) (Probed, error)

	// Unbutton takes the buttons of a visible message away. That there are
	// none, or no message, is no error.
	Unbutton(ctx context.Context, to Key, id int64) error

	// Answer tells whoever pressed a button what came of it. query is what the
	// channel called the press.
	Answer(ctx context.Context, query string, n Notice) error

	// Sequence names the sequence from which the messages of a chat get their
	// ids. Within one, ids only grow.
	Sequence(chat int64) int64
}

// Probed is what a probe has met.
type Probed struct {
	Can    []int64 // ids that the part can have: at most one unless the probe was a stale one
	Others []int64 // messages of the bot that are not the part
}

// TypingInterval is how often the typing indicator has to be shown again.
// Telegram hides it after 5 s (Bot API, sendChatAction).
const TypingInterval = 4500 * time.Millisecond

// Store keeps records in transactions; it knows nothing of the rules.
type Store interface {
	// Update runs fn in one transaction that is on disk when Update returns
	// nil. It returns fn's error, with nothing written; [ErrFull], likewise; or
	// [ErrBroken]. Updates run one at a time. fn must not call the store.
	Update(fn func(Tx) error) error

	// View runs fn on a snapshot. Writes fail.
	View(fn func(Tx) error) error
}

// Tx is a transaction. What it returns is the caller's to keep and change.
// Errors name the bucket and the key of a record that cannot be read.
// A record that is not where it says, or in no state that a record can be in,
// cannot be read either. Iterators stop after the first error, but for those of
// keys, which go on; they must not outlive the transaction, and a caller does
// not write to a bucket that it is iterating over.
type Tx interface {
	// Meta reads a named value, nil if there is none.
	Meta(name string) ([]byte, error)
	SetMeta(name string, value []byte) error

	// Record reads what a channel keeps beside the engine's records, nil if there
	// is nothing of that name. Names begin with that of the channel and a slash.
	Record(name string) ([]byte, error)
	PutRecord(name string, value []byte) error
	DeleteRecord(name string) error
	// Records lists, in the order of their names, the records whose names begin
	// with a prefix and do not come before from.
	Records(prefix, from string) iter.Seq2[Record, error]

	// Conversation reads a record; its bool is false if there is none.
	Conversation(k Key) (Conversation, bool, error)
	PutConversation(k Key, c Conversation) error

	// Messages lists the messages that are not in the history yet, by version.
	Messages(k Key) ([]Message, error)
	PutMessage(k Key, m Message) error
	DeleteMessage(k Key, v Version) error

	// Timer reads when a conversation is due; zero if it is not. Nothing but
	// Arm and Disarm ever changes a timer (I6).
	Timer(k Key) (Timer, error)
	Arm(k Key, t Timer) error
	Disarm(k Key) error
	// Timers lists the armed keys of an identity (see [Key.Identity]).
	Timers(identity string) iter.Seq2[Key, error]

	// Lease reads who works on a conversation; zero if nobody does.
	Lease(k Key) (Lease, error)
	PutLease(k Key, l Lease) error
	DeleteLease(k Key) error
	Leases(identity string) iter.Seq2[Key, error]

	// Outbox lists the replies that are not delivered yet, by id, each with
	// its parts in order.
	Outbox(k Key) ([]Reply, error)
	PutReply(k Key, r Reply) error // the record of the reply and those of all parts, at least one
	DeleteReply(k Key, id uint64) error
	Outboxes(identity string) iter.Seq2[Key, error]

	// History lists turns, newest first.
	History(k Key) iter.Seq2[Turn, error]
	// OldHistory lists the turns before the newest ones, oldest first. Its cost
	// does not depend on how many there are.
	OldHistory(k Key, newest int) iter.Seq2[Turn, error]
	Turn(k Key, id Version) (Turn, bool, error)
	PutTurn(k Key, t Turn) error
	DeleteTurn(k Key, id Version) error
	ClearHistory(k Key) error

	// Journal lists entries of a conversation, newest first.
	Journal(k Key) iter.Seq2[JournalEntry, error]
	AddJournal(k Key, e JournalEntry) error

	// Seen reads what is known of a message or an update of an identity; its
	// bool is false if nothing is.
	Seen(identity string, s Sighting) (Sight, bool, error)
	PutSeen(identity string, s Sighting, v Sight) error
	// Sightings lists the messages (not the updates) that an identity knows
	// of, in no particular order.
	Sightings(identity string) iter.Seq2[Source, error]

	// Prune removes up to limit entries each of the journal and of seen that
	// are older than the times given, and says how many it removed.
	Prune(journal, seen time.Time, limit int) (int, error)
}

// Record is something that a channel keeps in the store for itself.
type Record struct {
	Name  string
	Value []byte
}

// Sighting names something that was seen: a message by chat and id, or an
// update by its number with Chat zero.
type Sighting = Source

// Sight is what is known of a sighting.
type Sight struct {
	Hash string // of the content; empty for messages of the bot itself
	At   time.Time
}
