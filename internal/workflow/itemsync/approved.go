package itemsync

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/copse-dev/copse/internal/backoff"
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

// approveTime is how long an approval is repeated while other processes approve the same store.
const approveTime = 5 * time.Second

// add approves the store at a path. Of several processes that do so at once, each makes sure at its end
// that both texts are the same.
func (a Approved) add(path string) error {
	pauses := backoff.Start(time.Millisecond, 100*time.Millisecond)
	for !a.Has(path) {
		text := []byte(rand.Text())
		err := identify(path, text)
		if err == nil {
			err = a.Dir.Replace(approval(path), text)
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if limit := pauses.Pause(context.Background(), approveTime); limit != nil {
			return errors.Join(err, limit)
		}
	}
	return nil
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
