package bot

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// FuzzRecords starts a bot on any bytes in its own two records, the offset and
// who may talk to it. It starts, or says which record is damaged; a record that
// is none never makes somebody else the owner, and no error repeats it (I8).
func FuzzRecords(f *testing.F) {
	for _, offset := range []string{"", "7", "-7", "1e3", "9223372036854775808", "null", "\x00"} {
		f.Add([]byte(offset), []byte(`{"owner":7,"allowed":[8,-100500],"strangers":{"9":{"at":"2026-03-01T12:00:00Z","update":3}}}`))
	}
	for _, guest := range []string{"", "\n", "{}", "null", "[]", `{"code":"K7QM2XWD"}`, `{"owner":"K7QM2XWD"}`, `{"owner":7,"strangers":{"x":{}}}`, `{"owner":7`, `{"owner":-1e99}`} {
		f.Add([]byte("7"), []byte(guest))
	}
	cfg := DefaultConfig()
	cfg.Token = testToken
	f.Fuzz(func(t *testing.T, offset, guest []byte) {
		const offsetName, guestName = "offset/telegram/42/", "access/42"
		store := &memory{meta: map[string][]byte{offsetName: offset, guestName: guest}}
		b, err := newBot(cfg, AccessConfig{}, store, slog.New(slog.DiscardHandler), newFake(), newFake())
		if err != nil {
			t.Fatal(err)
		}
		check := func(name string, err error) {
			if err != nil && (!strings.Contains(err.Error(), fmt.Sprintf("bucket meta, key %q", name)) || strings.Contains(err.Error(), "K7QM2XWD")) {
				t.Errorf("the error of %s is %v", name, err)
			}
		}
		_, err = b.offset()
		check(offsetName, err)
		err = b.gate.load()
		check(guestName, err)
		if err != nil {
			return
		}
		if !strings.HasPrefix(strings.TrimSpace(string(guest)), "{") {
			t.Errorf("%q was taken", guest)
		}
		if code, err := b.Pair(); err != nil || code != "" && b.gate.guest.Owner != 0 {
			t.Errorf("a bot that has an owner has the code %q; %v", code, err)
		}
	})
}
