package conversationtest

import (
	"testing"

	"lastword/conversation"
)

func channelKeepsRecords(t *testing.T, s *suite) {
	names := func(prefix, from string) (out []string) {
		s.view(func(tx conversation.Tx) error {
			for _, r := range collect(t, tx.Records(prefix, from)) {
				out = append(out, r.Name+"="+string(r.Value))
			}
			return nil
		})
		return out
	}
	want(t, "records of a new store", names("a/", ""), []string(nil))
	s.update(func(tx conversation.Tx) error {
		for _, n := range []string{"a/2", "b/1", "a/1", "a/3"} {
			if err := tx.PutRecord(n, []byte(n[2:])); err != nil {
				return err
			}
		}
		return nil
	})
	s.update(func(tx conversation.Tx) error {
		if err := tx.PutRecord("a/3", []byte("changed")); err != nil {
			return err
		}
		return tx.DeleteRecord("a/1")
	})
	s.again()
	want(t, "records of a prefix", names("a/", ""), []string{"a/2=2", "a/3=changed"})
	want(t, "records from a name on", names("a/", "a/25"), []string{"a/3=changed"})
	s.view(func(tx conversation.Tx) error {
		gone, err1 := tx.Record("a/1")
		there, err2 := tx.Record("b/1")
		if gone != nil || string(there) != "1" || err1 != nil || err2 != nil {
			t.Errorf("records: %q %v, %q %v", gone, err1, there, err2)
		}
		return nil
	})
}
