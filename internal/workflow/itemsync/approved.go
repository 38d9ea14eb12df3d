package itemsync

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"

	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/userdir"
)

// ErrNotApproved reports that the user has neither created nor synced a shared store on this
// machine, so only a sync on request contacts its remote.
var ErrNotApproved = errors.New("sync the store once on this machine, so that copse may contact its remote")

// Approved are the shared stores that the user of this machine created, or synced on request. A
// repository that arrives as an archive brings a shared store and the address of its remote, and
// copse does not contact an address because a repository names it. It is a directory with a file for the
// path of each store, which contains a random text. The store has the same text, so another store at
// that path is not approved. Its zero value approves none.
type Approved struct{ Dir userdir.Dir }

const (
	// identityName is the file of a store with its random text.
	identityName = ".copse/approved"
	// maxIdentity is the size in bytes of the longest random text that is read.
	maxIdentity = 64
)

// Has reports whether the store at a path is approved.
func (a Approved) Has(path string) bool {
	known, err := a.Dir.Read(approval(path), maxIdentity)
	if err != nil || len(known) == 0 {
		return false
	}
	store, err := os.OpenRoot(path)
	if err != nil {
		return false
	}
	defer store.Close()
	text, err := regular.ReadIn(store, identityName, maxIdentity)
	return err == nil && string(text) == string(known)
}

// add approves the store at a path.
func (a Approved) add(path string) error {
	if a.Has(path) {
		return nil
	}
	text := []byte(rand.Text())
	if err := identify(path, text); err != nil {
		return err
	}
	return a.Dir.Replace(approval(path), text)
}

// identify writes the random text of the store at a path. It follows no link.
func identify(path string, text []byte) error {
	store, err := os.OpenRoot(path)
	if err != nil {
		return rooted.WithoutPath(err)
	}
	defer store.Close()
	if err := store.Remove(identityName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return rooted.WithoutPath(err)
	}
	file, err := store.OpenFile(identityName, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return rooted.WithoutPath(err)
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Close())
}

// approval returns the name of the file that approves the store at a path.
func approval(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}
