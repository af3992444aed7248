package conversationtest

import (
	"errors"
	"sync"

	"lastword/conversation"
)

// Disk is a store on a disk that has faults. They strike at the commit: the
// whole transaction has been worked out by then.
type Disk struct {
	conversation.Store
	// Fault, if set, decides what becomes of the n-th commit, from 1.
	Fault func(n int) Outcome

	mu sync.Mutex
	n  int
}

// Outcome is what becomes of a commit.
type Outcome int

// What can become of a commit.
const (
	Written Outcome = iota
	Full            // no space: nothing is written
	Lost            // an I/O error: nothing is on disk
	Kept            // an I/O error, but it is on disk all the same
)

// ErrDisk is what a disk with an I/O error says.
var ErrDisk = errors.New("input/output error")

var errLost = errors.New("not written")

// Commits is how many there were.
func (d *Disk) Commits() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.n
}

// Update implements [conversation.Store].
func (d *Disk) Update(fn func(conversation.Tx) error) error {
	d.mu.Lock()
	d.n++
	n := d.n
	d.mu.Unlock()
	outcome := Written
	if d.Fault != nil {
		outcome = d.Fault(n)
	}
	err := d.Store.Update(func(tx conversation.Tx) error {
		if err := fn(tx); err != nil || outcome == Written || outcome == Kept {
			return err
		}
		return errLost
	})
	switch {
	case err != nil && !errors.Is(err, errLost):
		return err
	case outcome == Full:
		return errors.Join(conversation.ErrFull, ErrDisk)
	case outcome == Written:
		return nil
	}
	return errors.Join(conversation.ErrBroken, ErrDisk)
}
