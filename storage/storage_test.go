package storage_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"lastword/conversation"
	"lastword/conversation/conversationtest"
	"lastword/storage"
)

func open(t *testing.T, path string) *storage.DB {
	t.Helper()
	db, err := storage.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func TestStore(t *testing.T) {
	conversationtest.TestStore(t, func(t *testing.T) (conversation.Store, func() conversation.Store) {
		path := filepath.Join(t.TempDir(), "test.db")
		db := open(t, path)
		t.Cleanup(func() { db.Close() })
		return db, func() conversation.Store {
			if err := db.Check(); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db = open(t, path)
			return db
		}
	})
}

func TestFolderIsCreated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder", "test.db")
	open(t, path).Close()
	if _, err := os.Stat(path + ".new"); err == nil {
		t.Error("the temporary file was left behind")
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	db := open(t, path)
	defer db.Close()
	if _, err := storage.Open(path); !errors.Is(err, storage.ErrInUse) || !strings.Contains(err.Error(), path) {
		t.Errorf("opening it twice: %v", err)
	}
}

// TestDamageIsReported: no damage is a panic, a crash or a fresh start, and the
// file stays as it was.
func TestDamageIsReported(t *testing.T) {
	good := func(t *testing.T) []byte {
		path := filepath.Join(t.TempDir(), "good.db")
		db := open(t, path)
		err := db.Update(func(tx conversation.Tx) error {
			for i := range 500 {
				k := conversation.Key{Channel: "test", Bot: 1, Chat: int64(i)}
				if err := tx.PutTurn(k, conversation.Turn{ID: 1, Reply: strings.Repeat("word ", 50)}); err != nil {
					return err
				}
			}
			return nil
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	foreign := func(t *testing.T) []byte {
		path := filepath.Join(t.TempDir(), "foreign.db")
		db, err := bolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
		data, _ := os.ReadFile(path)
		return data
	}
	for name, damage := range map[string]func(*testing.T) []byte{
		"empty":              func(*testing.T) []byte { return nil },
		"text":               func(*testing.T) []byte { return []byte(strings.Repeat("this is no database. ", 50)) },
		"short text":         func(*testing.T) []byte { return []byte("no") },
		"cut in half":        func(t *testing.T) []byte { d := good(t); return d[:len(d)/2] },
		"cut to two pages":   func(t *testing.T) []byte { return good(t)[:8192] },
		"zeros in the pages": func(t *testing.T) []byte { d := good(t); clear(d[8192 : len(d)/2]); return d },
		"noise in the pages": func(t *testing.T) []byte {
			d := good(t)
			for i := 8192; i < len(d); i += 7 {
				d[i] ^= 0xa5
			}
			return d
		},
		"noise in the header": func(t *testing.T) []byte {
			d := good(t)
			for i := range 8192 {
				d[i] ^= 0xa5
			}
			return d
		},
		"of another program": foreign,
	} {
		t.Run(name, func(t *testing.T) {
			data := damage(t)
			path := filepath.Join(t.TempDir(), "damaged.db")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			db, err := storage.Open(path)
			if err == nil {
				db.Close()
				t.Fatal("it was opened")
			}
			if !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "goroutine") {
				t.Errorf("the message is %q", err)
			}
			if after, _ := os.ReadFile(path); string(after) != string(data) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestDamagedRecordIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	open(t, path).Close()
	raw, err := bolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	k := conversation.Key{Channel: "test", Bot: 1, Chat: 7}
	err = raw.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte("timers")).Put([]byte(k.String()), []byte(`{"due": "a secret"`))
	})
	if err := errors.Join(err, raw.Close()); err != nil {
		t.Fatal(err)
	}
	db := open(t, path)
	defer db.Close()
	err = db.View(func(tx conversation.Tx) error { _, err := tx.Timer(k); return err })
	if err == nil || !strings.Contains(err.Error(), "timers") || !strings.Contains(err.Error(), k.String()) || strings.Contains(err.Error(), "secret") {
		t.Errorf("the error is %v", err)
	}
}
