// Package conversation is the turn engine: it decides when a person has
// finished, asks a model once for all of it, and delivers the answer only while
// it is still the answer to what is being asked.
//
// # Guarantees
//
// For every conversation, whatever the user, the network, the model or the
// power supply does:
//
//	I1  Nothing is lost. Every message that was confirmed to the channel is
//	    covered by a delivered reply, or by a visible notice that says why not.
//	I2  Nothing is answered twice. A message is in the current turn of at most
//	    one delivered reply; each part of a reply is visible once.
//	I3  Nothing stale is sent. When a reply is claimed for sending, no newer
//	    input is stored: checked and claimed in one transaction.
//	I4  One generation at a time, across workers and restarts.
//	I5  Nobody waits for ever. Every wait has a bound.
//	I6  Timers are nobody else's data. Saving a conversation cannot move one.
//	I7  History is what the user saw.
//	I8  Secrets stay secret: no token, key or message text in a log or an error.
//
// # A turn
//
//	        message              due                 answer, still current
//	idle ───────────▶ waiting ─────────▶ generating ───────────────────────▶ delivering ──▶ idle
//	                   ▲  │ message:        │  ▲                                │ part by part:
//	                   │  │ timer moves     │  │ retry, after a back-off        │ pending ▶ claimed ▶ sent
//	                   │  ▼                 ▼  │                                │            │   ▲
//	                   └─────────── newer input: call cancelled                 │            ▼   │ found
//	                   └─────────── newer input before anybody saw it: ◀────────┘          unknown
//	                                reply withdrawn                                          │ ruled out: pending
//	                                                                                         ▼ neither: closed, told
//
// The state is in records, not in a field that names it: waiting is a timer,
// generating a [Lease], delivering a lease with a reply in the outbox. Resting
// is unanswered input without a timer, of which a notice has told ([Rest]).
//
// # How it works
//
// Versions, not locks, keep answers current. Every change of the input raises
// the [Version]; a generation carries the version of its snapshot, and commits
// only if it is still that of the conversation, in the transaction that makes
// it a reply. What comes too late is an outcome in the journal, not an error.
//
// The rules are one pure function, [Rules.Step]: (state, event, now) → (state,
// result). The [Engine] is one loop around it: it takes the events that have
// queued up, applies them in one transaction, and starts the effects (model
// calls, sends, looks) when that is on disk. They come back as events. A turn
// costs three transactions beside those of its messages: lease and snapshot,
// commit with the first part claimed, sent with the lease released.
//
// After max_restarts cancelled calls a turn is protected: newer input neither
// cancels it nor makes it stale; it quotes the last message that it covers.
// With the policy finish every turn is like that, unless something that it
// covers is edited.
//
// The cap of the debounce, max_wait, counts from the first message of a wait.
// A message that cancels a call begins a new wait, or the rest of what the
// person is typing would cancel the next call, and the next.
//
// # What a crash leaves
//
//	before                         on disk                        after the start
//	the batch is stored            nothing                        the channel brings it again
//	the timer is due               messages, timer                the timer fires
//	the model has answered         messages, timer, lease         the lease is void, the turn runs again
//	the part is visible            claimed part                   looked for; see below
//	the next part is claimed       sent part, pending parts       goes on with the next part
//	the notice is sent             claimed notice                 dropped: it may be on the screen
//
// # A send of unknown outcome
//
// It is never repeated on a guess. Message ids only grow, so the part can only
// be above the highest id known when it was claimed, and below one that is
// known to be younger. What the bot knows of in between is not it; the rest is
// looked for ([Channel.Probe]). Found: the part is sent. Ruled out: it is as if
// the call had not been made. Neither: the user is told after a while, and the
// id of that notice is one that is younger. It has a button that shows the
// answer; as long as no such notice is visible, there will be another.
//
// # What replaces a reply
//
// The newest reply can be replaced in its place: by a revision, because its
// question was edited, by another answer that a button asked for, or by one of
// several that there are. Each is a reply whose parts are edits ([Part.Replaces]),
// which can be made twice without harm. A button says what it belongs to
// ([Press]); whatever is no longer current changes nothing.
//
// # Where to find what
//
//	what people do        arrivals.go
//	asking the model      generate.go
//	showing the answer    deliver.go, withdraw.go
//	an outcome unknown    look.go
//	buttons               button.go, press.go
//	replacing a reply     revise.go
//	after a restart       recover.go
//	what every step ends with, and the next deadline   rules.go
//	the loop              engine.go
//	one transaction       unit.go, records.go, sightings.go, move.go
//	slow work             effects.go
//	what the model sees   prompt.go, tokens.go
//	what is forgotten     retention.go, and prune in unit.go
//	what others provide   ports.go
package conversation
