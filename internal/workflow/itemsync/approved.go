package itemsync

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"

	"github.com/copse-dev/copse/internal/userdir"
)

// ErrNotApproved reports that the user has neither created nor synced a shared store on this
// machine, so only a sync on request contacts its remote.
var ErrNotApproved = errors.New("sync the store once on this machine, so that copse may contact its remote")

// Approved are the shared stores that the user of this machine created, or synced on request. A
// repository that arrives as an archive brings a shared store and the address of its remote, and
// copse does not contact an address because a repository names it. It is a directory with an empty
// file for each store; its zero value approves none.
type Approved struct{ Dir userdir.Dir }

// Has reports whether the store at a path is approved.
func (a Approved) Has(path string) bool {
	_, err := a.Dir.Read(approval(path), 0)
	return err == nil
}

// add approves the store at a path.
func (a Approved) add(path string) error {
	if a.Has(path) {
		return nil
	}
	return a.Dir.Replace(approval(path), nil)
}

// approval returns the name of the file that approves the store at a path.
func approval(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}
