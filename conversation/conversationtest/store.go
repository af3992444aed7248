package conversationtest

import (
	"errors"
	"fmt"
	"iter"
	"reflect"
	"testing"
	"time"

	"lastword/conversation"
)

// TestStore is the suite that every store must pass. reopen, given a store that
// it opened or nil, closes it and opens the same data again; it also runs
// whatever check of its own the store has.
func TestStore(t *testing.T, open func(t *testing.T) (store conversation.Store, reopen func() conversation.Store)) {
	for name, test := range map[string]func(*testing.T, *suite){
		"records survive":            recordsSurvive,
		"a failed update is undone":  failedUpdateIsUndone,
		"a panic is undone":          panicIsUndone,
		"timers are on their own":    timersAreOnTheirOwn,
		"keys do not mix":            keysDoNotMix,
		"history is newest first":    historyIsNewestFirst,
		"old history, oldest first":  oldHistoryIsOldestFirst,
		"a reply can lose parts":     replyCanLoseParts,
		"seen is remembered, pruned": seenIsPruned,
		"the journal is pruned":      journalIsPruned,
		"a view writes nothing":      viewWritesNothing,
		"a channel keeps records":    channelKeepsRecords,
	} {
		t.Run(name, func(t *testing.T) {
			s := &suite{t: t}
			s.store, s.reopen = open(t)
			test(t, s)
			s.again()
		})
	}
}

type suite struct {
	t      *testing.T
	store  conversation.Store
	reopen func() conversation.Store
}

func (s *suite) again() { s.store = s.reopen() }

func (s *suite) update(fn func(tx conversation.Tx) error) {
	s.t.Helper()
	if err := s.store.Update(fn); err != nil {
		s.t.Fatal(err)
	}
}

func (s *suite) view(fn func(tx conversation.Tx) error) {
	s.t.Helper()
	if err := s.store.View(fn); err != nil {
		s.t.Fatal(err)
	}
}

var (
	one    = conversation.Key{Channel: "test", Bot: 1, Chat: 1}
	twelve = conversation.Key{Channel: "test", Bot: 1, Chat: 12}
	topic  = conversation.Key{Channel: "test", Bot: 1, Chat: 1, Thread: 5}
	other  = conversation.Key{Channel: "test", Bot: 12, Chat: 1}
	then   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
)

func collect[T any](t *testing.T, seq iter.Seq2[T, error]) (out []T) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v, want %+v", what, got, want)
	}
}

func recordsSurvive(t *testing.T, s *suite) {
	c := conversation.Conversation{Incarnation: "x", Version: 7, Answered: 3, MovedTo: &twelve}
	m := conversation.Message{Version: 7, Source: conversation.Source{Chat: 1, ID: 9}, Content: conversation.Content{Text: "hi"}, Sent: then}
	timer := conversation.Timer{Due: then, First: then, Armed: 7, Reason: conversation.Debounce}
	lease := conversation.Lease{Owner: "me", Epoch: 4, Expiry: then}
	reply := conversation.Reply{ID: 2, Version: 7, Parts: []conversation.Part{{Text: "a", State: conversation.Sent}, {Text: "b", State: conversation.Pending}}}
	s.update(func(tx conversation.Tx) error {
		return errors.Join(tx.SetMeta("name", []byte("value")), tx.PutConversation(one, c), tx.PutMessage(one, m),
			tx.Arm(one, timer), tx.PutLease(one, lease), tx.PutReply(one, reply))
	})
	s.again()
	s.view(func(tx conversation.Tx) error {
		meta, _ := tx.Meta("name")
		want(t, "meta", string(meta), "value")
		gotC, found, _ := tx.Conversation(one)
		want(t, "conversation", gotC, c)
		want(t, "found", found, true)
		gotM, _ := tx.Messages(one)
		want(t, "messages", gotM, []conversation.Message{m})
		gotT, _ := tx.Timer(one)
		want(t, "timer", gotT, timer)
		gotL, _ := tx.Lease(one)
		want(t, "lease", gotL, lease)
		gotR, _ := tx.Outbox(one)
		want(t, "outbox", gotR, []conversation.Reply{reply})
		want(t, "timers", collect(t, tx.Timers(one.Identity())), []conversation.Key{one})
		want(t, "leases", collect(t, tx.Leases(one.Identity())), []conversation.Key{one})
		want(t, "outboxes", collect(t, tx.Outboxes(one.Identity())), []conversation.Key{one})
		return nil
	})
	s.update(func(tx conversation.Tx) error {
		return errors.Join(tx.DeleteMessage(one, 7), tx.Disarm(one), tx.DeleteLease(one), tx.DeleteReply(one, 2))
	})
	s.view(func(tx conversation.Tx) error {
		messages, _ := tx.Messages(one)
		timer, _ := tx.Timer(one)
		lease, _ := tx.Lease(one)
		outbox, _ := tx.Outbox(one)
		want(t, "what is left", []any{len(messages), timer.Set(), lease.Held(), len(outbox)}, []any{0, false, false, 0})
		return nil
	})
}

func failedUpdateIsUndone(t *testing.T, s *suite) {
	failure := errors.New("failure")
	err := s.store.Update(func(tx conversation.Tx) error {
		return errors.Join(tx.SetMeta("name", []byte("value")), tx.Arm(one, conversation.Timer{Due: then}), failure)
	})
	if !errors.Is(err, failure) {
		t.Errorf("Update returned %v", err)
	}
	s.view(func(tx conversation.Tx) error {
		meta, _ := tx.Meta("name")
		timer, _ := tx.Timer(one)
		want(t, "what was written", []any{len(meta), timer.Set()}, []any{0, false})
		return nil
	})
}

func panicIsUndone(t *testing.T, s *suite) {
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = s.store.Update(func(tx conversation.Tx) error {
			_ = tx.SetMeta("name", []byte("value"))
			panic("on purpose")
		})
	}()
	s.update(func(tx conversation.Tx) error {
		meta, _ := tx.Meta("name")
		want(t, "what was written", len(meta), 0)
		return nil
	})
}

// timersAreOnTheirOwn is I6: whatever else is written or deleted, a timer stays
// where it is.
func timersAreOnTheirOwn(t *testing.T, s *suite) {
	timer := conversation.Timer{Due: then, Armed: 3, Reason: conversation.Debounce}
	s.update(func(tx conversation.Tx) error { return tx.Arm(one, timer) })
	s.update(func(tx conversation.Tx) error {
		return errors.Join(tx.PutConversation(one, conversation.Conversation{Version: 9}), tx.DeleteLease(one), tx.ClearHistory(one),
			tx.PutMessage(one, conversation.Message{Version: 9}), tx.DeleteMessage(one, 9), tx.DeleteReply(one, 1), tx.Disarm(twelve), tx.Disarm(topic))
	})
	s.view(func(tx conversation.Tx) error {
		got, err := tx.Timer(one)
		want(t, "timer", got, timer)
		return err
	})
}

func keysDoNotMix(t *testing.T, s *suite) {
	all := []conversation.Key{one, twelve, topic, other}
	s.update(func(tx conversation.Tx) error {
		var errs []error
		for _, k := range all {
			errs = append(errs, tx.Arm(k, conversation.Timer{Due: then}), tx.PutMessage(k, conversation.Message{Version: 1, Content: conversation.Content{Text: k.String()}}),
				tx.PutTurn(k, conversation.Turn{ID: 1, Reply: k.String()}), tx.PutReply(k, conversation.Reply{ID: 1, Parts: []conversation.Part{{Text: k.String(), State: conversation.Pending}}}))
		}
		return errors.Join(append(errs, tx.ClearHistory(twelve))...)
	})
	s.view(func(tx conversation.Tx) error {
		for _, k := range all {
			messages, _ := tx.Messages(k)
			outbox, _ := tx.Outbox(k)
			if len(messages) != 1 || messages[0].Content.Text != k.String() || len(outbox) != 1 || outbox[0].Parts[0].Text != k.String() {
				t.Errorf("%v has %v and %v", k, messages, outbox)
			}
			if turns := collect(t, tx.History(k)); k != twelve && (len(turns) != 1 || turns[0].Reply != k.String()) {
				t.Errorf("the history of %v is %v", k, turns)
			}
		}
		want(t, "timers of bot 1", len(collect(t, tx.Timers(one.Identity()))), 3)
		want(t, "timers of bot 12", collect(t, tx.Timers(other.Identity())), []conversation.Key{other})
		return nil
	})
}

func historyIsNewestFirst(t *testing.T, s *suite) {
	s.update(func(tx conversation.Tx) error {
		var errs []error
		for _, id := range []conversation.Version{300, 2, 1, 255, 256} {
			errs = append(errs, tx.PutTurn(one, conversation.Turn{ID: id, Reply: fmt.Sprint(id)}))
		}
		return errors.Join(append(errs, tx.DeleteTurn(one, 2))...)
	})
	s.view(func(tx conversation.Tx) error {
		var ids []conversation.Version
		for _, turn := range collect(t, tx.History(one)) {
			ids = append(ids, turn.ID)
		}
		want(t, "order", ids, []conversation.Version{300, 256, 255, 1})
		turn, found, err := tx.Turn(one, 255)
		want(t, "turn 255", []any{turn.Reply, found}, []any{"255", true})
		return err
	})
}

// oldHistoryIsOldestFirst: with neighbours before and after in the same bucket.
func oldHistoryIsOldestFirst(t *testing.T, s *suite) {
	s.update(func(tx conversation.Tx) error {
		var errs []error
		for _, k := range []conversation.Key{one, twelve, topic, other} {
			for id := range conversation.Version(5) {
				errs = append(errs, tx.PutTurn(k, conversation.Turn{ID: 253 + id, Reply: k.String()}))
			}
		}
		return errors.Join(append(errs, tx.ClearHistory(twelve))...)
	})
	s.view(func(tx conversation.Tx) error {
		for _, k := range []conversation.Key{one, topic, other} {
			for newest, old := range [][]conversation.Version{{253, 254, 255, 256, 257}, {253, 254, 255, 256}, {253, 254, 255}, {253, 254}, {253}, nil, nil} {
				var got []conversation.Version
				for _, turn := range collect(t, tx.OldHistory(k, newest)) {
					want(t, "whose turn", turn.Reply, k.String())
					got = append(got, turn.ID)
				}
				want(t, fmt.Sprintf("before the newest %d", newest), got, old)
			}
		}
		want(t, "of a conversation without a history", len(collect(t, tx.OldHistory(twelve, 0))), 0)
		return nil
	})
}

func replyCanLoseParts(t *testing.T, s *suite) {
	r := conversation.Reply{ID: 1, Parts: []conversation.Part{{Text: "a", State: conversation.Sent}, {Text: "b", State: conversation.Claimed}, {Text: "c", State: conversation.Pending}}}
	s.update(func(tx conversation.Tx) error { return tx.PutReply(one, r) })
	r.Parts = r.Parts[:1]
	s.update(func(tx conversation.Tx) error { return tx.PutReply(one, r) })
	s.view(func(tx conversation.Tx) error {
		got, err := tx.Outbox(one)
		want(t, "outbox", got, []conversation.Reply{r})
		return err
	})
}

func seenIsPruned(t *testing.T, s *suite) {
	old, young := conversation.Sighting{Chat: 1, ID: 1}, conversation.Sighting{Chat: 1, ID: 2}
	update := conversation.Sighting{ID: 3}
	id := one.Identity()
	s.update(func(tx conversation.Tx) error {
		return errors.Join(tx.PutSeen(id, old, conversation.Sight{Hash: "a", At: then.Add(-72 * time.Hour)}),
			tx.PutSeen(id, young, conversation.Sight{Hash: "b", At: then}), tx.PutSeen(id, update, conversation.Sight{Hash: "c", At: then}),
			tx.PutSeen(other.Identity(), old, conversation.Sight{Hash: "d", At: then}))
	})
	s.view(func(tx conversation.Tx) error {
		want(t, "sightings", len(collect(t, tx.Sightings(id))), 2)
		v, found, err := tx.Seen(other.Identity(), young)
		want(t, "of another identity", []any{v.Hash, found}, []any{"", false})
		return err
	})
	s.update(func(tx conversation.Tx) error {
		_, err := tx.Prune(then.Add(-48*time.Hour), then.Add(-48*time.Hour), 100)
		return err
	})
	s.view(func(tx conversation.Tx) error {
		_, foundOld, _ := tx.Seen(id, old)
		v, foundYoung, err := tx.Seen(id, young)
		want(t, "after pruning", []any{foundOld, foundYoung, v.Hash}, []any{false, true, "b"})
		return err
	})
}

func journalIsPruned(t *testing.T, s *suite) {
	s.update(func(tx conversation.Tx) error {
		var errs []error
		for i := range 5 {
			at := then.Add(time.Duration(i) * time.Hour)
			errs = append(errs, tx.AddJournal(one, conversation.JournalEntry{At: at, Generation: conversation.Generation(i)}),
				tx.AddJournal(twelve, conversation.JournalEntry{At: at}))
		}
		return errors.Join(errs...)
	})
	s.update(func(tx conversation.Tx) error {
		n, err := tx.Prune(then.Add(3*time.Hour), then, 100)
		want(t, "pruned", n, 6)
		return err
	})
	s.view(func(tx conversation.Tx) error {
		var left []conversation.Generation
		for _, e := range collect(t, tx.Journal(one)) {
			left = append(left, e.Generation)
		}
		want(t, "left, newest first", left, []conversation.Generation{4, 3})
		return nil
	})
}

func viewWritesNothing(t *testing.T, s *suite) {
	s.view(func(tx conversation.Tx) error {
		if tx.SetMeta("name", []byte("value")) == nil || tx.Arm(one, conversation.Timer{Due: then}) == nil {
			t.Error("a view wrote")
		}
		return nil
	})
}
