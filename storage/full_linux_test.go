package storage_test

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lastword/conversation"
	"lastword/storage"
)

// inNamespace tells the test's own process, in which it may mount.
const inNamespace = "LASTWORD_TEST_MOUNT"

// TestFullDisk fills a small file system for real. It runs once more in a
// process with a mount namespace of its own: so it needs no rights where the
// machine lets everybody have one, and leaves no mount behind.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(inNamespace); dir != "" {
		onFullDisk(t, dir)
		return
	}
	dir := t.TempDir()
	var why []string
	for name, attributes := range map[string]*syscall.SysProcAttr{
		"with the rights that we have": {Cloneflags: syscall.CLONE_NEWNS},
		"as a user namespace's root": {
			Cloneflags:  syscall.CLONE_NEWNS | syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		},
	} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
		cmd.Env = append(os.Environ(), inNamespace+"="+dir)
		cmd.SysProcAttr = attributes
		out, err := cmd.CombinedOutput()
		switch {
		case bytes.Contains(out, []byte("--- PASS")) && err == nil:
			return
		case bytes.Contains(out, []byte("--- FAIL")) || err == nil && !bytes.Contains(out, []byte("--- SKIP")):
			t.Fatalf("%s: %v\n%s", name, err, out)
		case err != nil:
			why = append(why, name+": "+err.Error())
		default:
			why = append(why, name+": mount is not permitted")
		}
	}
	t.Skipf("no small file system can be mounted here: %s", strings.Join(why, "; "))
}

func onFullDisk(t *testing.T, dir string) {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skip(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skip(err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 512<<10), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "test.db")
	db := open(t, path)
	stored := fillUp(t, db)
	for range 5 { // refused again and again, and each time it can be read
		if _, err := add(db, stored+1); !errors.Is(err, conversation.ErrFull) {
			t.Fatalf("on a full disk: %v", err)
		}
		wantTurns(t, db, stored)
	}
	if err := db.Check(); err != nil {
		t.Errorf("a full disk damages the file: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if other, err := storage.Open(filepath.Join(dir, "other.db")); err == nil || !strings.Contains(err.Error(), "other.db") {
		t.Errorf("a new file on a full disk: %v, %v", other, err)
	}
	db = open(t, path) // a process that starts on a full disk
	wantTurns(t, db, stored)
	if _, err := add(db, stored+1); !errors.Is(err, conversation.ErrFull) {
		t.Fatalf("on a full disk, after a start: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		n, err := add(db, stored+1)
		if err != nil {
			t.Fatalf("with space again: %v", err)
		}
		stored = n
	}
	wantTurns(t, db, stored)
	if err := errors.Join(db.Check(), db.Close()); err != nil {
		t.Error(err)
	}
	db = open(t, path)
	defer db.Close()
	wantTurns(t, db, stored)
	open(t, filepath.Join(dir, "other.db")).Close()
}

// turnsAtOnce are in one transaction: all of them are stored, or none.
const turnsAtOnce = 3

// add stores some more turns and returns the id of the last one.
func add(db *storage.DB, from conversation.Version) (last conversation.Version, err error) {
	err = db.Update(func(tx conversation.Tx) error {
		for last = from; last < from+turnsAtOnce; last++ {
			text := make([]byte, 4<<10)
			rand.Read(text)
			if err := tx.PutTurn(damaged, conversation.Turn{ID: last, Reply: hex.EncodeToString(text)}); err != nil {
				return err
			}
		}
		return tx.Arm(damaged, conversation.Timer{Armed: last - 1, Reason: conversation.Debounce})
	})
	return last - 1, err
}

// fillUp stores turns until there is no space, and returns the last one's id.
func fillUp(t *testing.T, db *storage.DB) (stored conversation.Version) {
	for range 1000 {
		last, err := add(db, stored+1)
		if errors.Is(err, conversation.ErrFull) && errors.Is(err, syscall.ENOSPC) {
			if stored < 5*turnsAtOnce {
				t.Fatalf("full after %d turns", stored)
			}
			return stored
		}
		if err != nil {
			t.Fatalf("filling the disk: %v", err)
		}
		stored = last
	}
	t.Fatal("the disk does not fill")
	return 0
}

// wantTurns: all turns that were stored are there, whole, and nothing else.
func wantTurns(t *testing.T, db *storage.DB, stored conversation.Version) {
	t.Helper()
	err := db.View(func(tx conversation.Tx) error {
		next := stored
		for turn, err := range tx.History(damaged) {
			if err != nil {
				return err
			}
			if turn.ID != next || len(turn.Reply) != 8<<10 {
				t.Errorf("turn %d with %d bytes, want %d", turn.ID, len(turn.Reply), next)
			}
			next--
		}
		timer, err := tx.Timer(damaged)
		if next != 0 || timer.Armed != stored {
			t.Errorf("%d turns are missing; the timer is of %d, want %d", next, timer.Armed, stored)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
