package conversation_test

import (
	"encoding/binary"
	"os"
	"testing"
)

// bbolt keeps two meta pages, at the beginning of the first two pages of the
// file, and writes them in turn, each with the number of its transaction and a
// checksum. The newer of those whose checksum is right is the state; the pages
// of the one before it are not reused yet.
const (
	metaAt   = 16 // behind the header of the page
	txidAt   = metaAt + 48
	metaSize = 64
)

// loseMeta makes the file what it was before the last commit, as a disk does
// that has lost its last write.
func loseMeta(t *testing.T, path string) {
	spoilMeta(t, path, func(meta []byte) { clear(meta) })
}

// tearMeta cuts the last write in the middle.
func tearMeta(t *testing.T, path string) {
	spoilMeta(t, path, func(meta []byte) { clear(meta[metaSize/2:]) })
}

func spoilMeta(t *testing.T, path string, spoil func([]byte)) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	newer := 0
	if binary.LittleEndian.Uint64(data[page+txidAt:]) > binary.LittleEndian.Uint64(data[txidAt:]) {
		newer = page
	}
	spoil(data[newer+metaAt : newer+metaAt+metaSize])
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
