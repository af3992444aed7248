package conversation

import "iter"

// A revision is a generation that an edit of an answered message asks for, or
// the button under the reply. It has no messages of its own: what it answers is
// in the history, and its result takes the place of the reply that is visible
// there.

// Revising is a turn whose visible reply is about to be replaced.
type Revising struct {
	Turn     Version `json:"turn"`
	Receipts []int64 `json:"receipts"`        // messages that show the reply
	Again    bool    `json:"again,omitempty"` // the question is the same, another answer is wanted
	Page     int     `json:"page,omitempty"`  // which answer of several the next one is, from 1; 0 if the others are not kept
}

// revise asks for a revision of a turn whose question was edited, if it is the
// last one, young enough, and nothing else is waiting to be answered: newer
// input wins.
func (t *step) revise(turn *Turn) {
	if turn == nil || turn.ID != t.Answered || len(turn.Receipts) == 0 || len(t.Waiting()) > 0 || t.answer() != nil ||
		t.now.Sub(turn.At) > t.rules.ReviseWindow || t.Rest == WhileAway {
		return
	}
	t.Rest = ""
	t.Revising = &Revising{Turn: turn.ID, Receipts: turn.Receipts}
	t.debounce(0)
}

// commitRevision makes a new answer one that replaces the visible one. The
// history follows when it does.
func (t *step) commitRevision(l Lease, e Generated) {
	r := t.newReply(l, e)
	r.Of, r.Text, r.Page = l.Revises, e.Text, t.Revising.Page
	r.replace(t.Revising.Receipts, t.replyButtons(r.Of, r.Generation, r.Page, r.Page))
	t.Outbox = append(t.Outbox, r)
	t.Revising, t.Timer, t.Restarts, t.Failures = nil, Timer{}, 0, 0
	t.Lease = l
	t.Lease.Delivering = true
}

// replace puts the parts of a reply in the place of visible messages. Those
// that are left over go.
func (r *Reply) replace(visible []int64, buttons []Button) {
	for i, id := range visible {
		if i == len(r.Parts) {
			r.Parts = append(r.Parts, Part{})
		}
		r.Parts[i].Replaces = id
	}
	for i := range r.Parts {
		r.Parts[i].State, r.Parts[i].Buttons = Pending, nil
	}
	putButtons(r.Parts, buttons)
}

// finishRevision notes in the history what is visible now.
func (t *step) finishRevision(r *Reply) {
	a := Amendment{ID: r.Of, Reply: r.Text, Generation: r.Generation, Page: r.Page, Receipts: r.receipts(), Missing: r.missing()}
	t.Amend = append(t.Amend, a)
	t.journal(Lease{Version: r.Version, Generation: r.Generation}, WasSent, "revised", r.Meter)
	t.moveButtons(r)
	if again := t.Revising; again != nil && again.Turn == r.Of {
		again.Receipts = a.Receipts
	}
	t.remove(r)
}

// editOutcome notes what is known of a part that replaces a visible message.
// Nothing is in doubt: to show the same text twice in the same place is to show
// it once, so whatever failed in passing is tried again.
func (t *step) editOutcome(r *Reply, p *Part, err *SendError) {
	const most = 5 // tries in a row
	p.State = Pending
	p.Attempts++
	switch {
	case err.Kind == Later:
		p.Attempts--
		p.wait(t.now, err.After)
	case err.Kind == Away:
		t.unreachable()
	case err.Kind == Refused, p.Attempts >= most:
		// The message is gone, or too old to be edited: the old reply stays.
		t.journal(Lease{Version: r.Version, Generation: r.Generation}, WasFailed, "the reply cannot be replaced", r.Meter)
		t.remove(r)
	default:
		p.wait(t.now, backoff(p.Attempts, r.ID))
	}
}

// before lists the turns of a history that are older than one; 0 for all.
func before(history iter.Seq2[Turn, error], id Version) iter.Seq2[Turn, error] {
	return func(yield func(Turn, error) bool) {
		for turn, err := range history {
			if err == nil && id != 0 && turn.ID >= id {
				continue
			}
			if !yield(turn, err) {
				return
			}
		}
	}
}
