package bot

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// The pairing code makes the first who sends it the owner. Only its hash is
// stored, and each start makes another: one that an old log holds opens
// nothing.

const (
	codeLength = 8
	// Without what looks alike: 0 and O, 1 and I and L.
	codeLetters = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"

	mostTries  = 5 // wrong codes in an hour, of everybody together
	triesEvery = time.Hour
)

// newCode makes a code that is valid from now on. It returns "" if the bot has
// an owner, or the configuration admits somebody.
func (g *gate) newCode() (string, error) {
	if g.config.listed() || g.guest.Owner != 0 {
		return "", nil
	}
	code := make([]byte, 0, codeLength)
	for len(code) < codeLength {
		var b [1]byte
		_, _ = rand.Read(b[:])                         // never fails, see crypto/rand
		if i := int(b[0]) & 31; i < len(codeLetters) { // 31 letters: no modulo, so that each is as likely
			code = append(code, codeLetters[i])
		}
	}
	return string(code), g.save(func(b *guestBook) { b.Code = codeHash(string(code)) })
}

func codeHash(code string) string {
	sum := sha256.Sum256([]byte(code))
	return hex.EncodeToString(sum[:])
}

// opens reports whether a code is the valid one. After too many wrong ones
// none is, for an hour.
func (g *gate) opens(code string) bool {
	if code == "" || g.guest.Code == "" || g.guest.Owner != 0 {
		return false
	}
	now := g.now()
	if now.Before(g.closed) {
		return false
	}
	sum := codeHash(strings.ToUpper(strings.TrimSpace(code)))
	if subtle.ConstantTimeCompare([]byte(sum), []byte(g.guest.Code)) == 1 {
		return true
	}
	g.tries = slices.DeleteFunc(g.tries, func(t time.Time) bool { return now.Sub(t) > triesEvery })
	if g.tries = append(g.tries, now); len(g.tries) >= mostTries {
		g.tries, g.closed = nil, now.Add(triesEvery)
	}
	return false
}
