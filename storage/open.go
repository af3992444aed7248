package storage

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// schema is the version of the records. A program refuses a newer one.
const schema = 1

// lockWait is how long Open waits for the lock of a process that is just
// ending. A running one never lets go.
const lockWait = time.Second

// checkLimit bounds the size of a file that is checked page by page at every
// start. Larger ones are checked only for what can be seen at once.
const checkLimit = 64 << 20

// ErrInUse means that another process has the file open.
var ErrInUse = errors.New("is in use by another process")

// Open opens the database file, or creates it and its folder if neither exists.
// It never replaces a file: one that is empty, cut or damaged is an error that
// says so, and stays as it is. Returned errors name the file.
func Open(path string) (*DB, error) {
	if err := prepare(path); err != nil {
		return nil, fmt.Errorf("storage.path: %w", err)
	}
	db, err := open(path)
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("storage.path: %s %w; stop that process first, or give this one a file of its own", path, ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("storage.path: %s cannot be used: %w; restore a backup, or move the file away to start with an empty one", path, err)
	}
	return db, nil
}

// prepare makes sure that there is a database file, or says why not.
func prepare(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return create(path)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder; name a file", path)
	case info.Size() == 0:
		// bbolt would take it for a new one, and all conversations be gone.
		return fmt.Errorf("%s is empty (0 bytes), which no database ever is; restore a backup, or delete the file to start with an empty one", path)
	}
	return nil
}

// create makes a new file beside its final place and moves it there, so that a
// crash in between leaves no half of a database.
func create(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the folder of %s: %w", path, err)
	}
	temp := path + ".new"
	if err := os.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	db, err := bolt.Open(temp, 0o600, &bolt.Options{Timeout: lockWait})
	if err != nil {
		return fmt.Errorf("cannot create %s: %w", path, err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		for _, name := range buckets {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return tx.Bucket(metaBucket).Put([]byte("schema"), []byte(strconv.Itoa(schema)))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("cannot create %s: %w", path, err)
	}
	if err := os.Link(temp, path); err != nil { // unlike a rename, never over a file that appeared meanwhile
		return errors.Join(err, os.Remove(temp))
	}
	return errors.Join(os.Remove(temp), syncDir(dir))
}

func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // folders cannot be synced there, and need not be: NTFS keeps a journal of names
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// open opens and checks a file. bbolt panics on some damaged pages and, where a
// file was cut, touches memory that is not there; both are errors here.
func open(path string) (db *DB, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	var b *bolt.DB
	defer func() {
		if p := recover(); p != nil {
			db, err = nil, fmt.Errorf("the file is damaged (%v)", p)
		}
		if err != nil && b != nil {
			closeDamaged(b)
		}
	}()
	b, err = bolt.Open(path, 0o600, &bolt.Options{Timeout: lockWait, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	if err := b.View(func(tx *bolt.Tx) error { return inspect(tx, path) }); err != nil {
		return nil, err
	}
	return &DB{bolt: b}, nil
}

// closeDamaged lets go of a file that may panic once more on the way.
func closeDamaged(b *bolt.DB) {
	defer func() { _ = recover() }()
	_ = b.Close()
}

// inspect refuses what cannot be a database of this program.
func inspect(tx *bolt.Tx, path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() < tx.Size() {
		return fmt.Errorf("the file was cut: it has %d bytes and should have %d", info.Size(), tx.Size())
	}
	meta := tx.Bucket(metaBucket)
	if meta == nil {
		return errors.New("it is a database, but not one of lastword")
	}
	version, err := strconv.Atoi(string(meta.Get([]byte("schema"))))
	if err != nil {
		return errors.New("bucket meta, key schema: not a number")
	}
	if version > schema {
		return fmt.Errorf("it was written by a newer lastword (schema %d; this one knows %d)", version, schema)
	}
	if tx.Size() > checkLimit {
		return nil
	}
	return tx.ForEach(func(_ []byte, b *bolt.Bucket) error { return walk(b) })
}

// walk touches every page of a bucket. bbolt's own check does more, but in a
// goroutine of its own, where a panic over a damaged page cannot be caught.
func walk(b *bolt.Bucket) error {
	return b.ForEach(func(key, value []byte) error {
		if value == nil {
			return walk(b.Bucket(key))
		}
		return nil
	})
}
