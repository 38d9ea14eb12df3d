package itemsync

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/backoff"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/userdir"
)

// ErrNotApproved reports that the user has neither created nor synced a shared store on this
// machine, so only a sync on request contacts its remote.
var ErrNotApproved = errors.New("sync the store once on this machine, so that copse may contact its remote")

// ErrOtherAddress reports that the user has not synced the store with the address that the remote has now.
var ErrOtherAddress = errors.New("the address of the remote is not the one with which you synced the store on this machine; check it with `git remote -v`, then sync the store once")

// Approved are the shared stores that the user of this machine created, or synced on request. A
// repository that arrives as an archive brings a shared store and the address of its remote, and
// copse does not contact an address because a repository names it. It is a directory with a file for the
// path of each store, which contains a random text and digests of the remotes' addresses. The store has
// a file with that name, so another store at that path is not approved. Its zero value approves none.
type Approved struct{ Dir userdir.Dir }

const (
	// identities is the directory of a store with an empty file for each user directory that approves it.
	identities = ".copse/approvals"
	// maxIdentity is the size in bytes of the longest random text that is read.
	maxIdentity = 64
	// maxRemotes is how many addresses of a store are approved: the last ones that were synced with.
	maxRemotes = 8
	maxRecord  = maxIdentity + maxRemotes*(2*sha256.Size+1)
)

// Has reports whether the store at a path is approved, for any remote.
func (a Approved) Has(path string) bool {
	text, _ := a.known(path)
	return text != ""
}

// Check returns nil if the store at a path is approved for a remote, and otherwise [ErrNotApproved] or
// [ErrOtherAddress].
func (a Approved) Check(path string, remote *sidebranch.Remote) error {
	switch text, remotes := a.known(path); {
	case text == "":
		return ErrNotApproved
	case !slices.Contains(remotes, digest(remote)):
		return ErrOtherAddress
	}
	return nil
}

// known returns the text of an approved store and the digests of its remotes; "" if it is not approved.
func (a Approved) known(path string) (text string, remotes []string) {
	record, err := a.Dir.Read(approval(path), maxRecord)
	if err != nil || len(record) == 0 {
		return "", nil
	}
	lines := strings.Split(string(record), "\n")
	store, err := regular.OpenRoot(path)
	if err != nil {
		return "", nil
	}
	defer store.Close()
	if info, err := store.Lstat(identities + "/" + lines[0]); err != nil || !info.Mode().IsRegular() {
		return "", nil
	}
	return lines[0], lines[1:]
}

// approveTime is how long an approval is repeated while other processes approve the same store.
const approveTime = 5 * time.Second

// add approves the store at a path for a remote. Of several processes that do so at once, each makes
// sure at its end that the store has the text, and that its remote is approved.
func (a Approved) add(path string, remote *sidebranch.Remote) error {
	pauses := backoff.Start(time.Millisecond, 100*time.Millisecond)
	for a.Check(path, remote) != nil {
		text, remotes := a.known(path)
		var err error
		if text == "" {
			text = rand.Text()
			err = identify(path, text)
		}
		if err == nil {
			remotes = append(remotes[max(0, len(remotes)-maxRemotes+1):], digest(remote))
			err = a.Dir.Replace(approval(path), []byte(text+"\n"+strings.Join(remotes, "\n")))
		}
		if err != nil {
			return err
		}
		if err := pauses.Pause(context.Background(), approveTime); err != nil {
			return err
		}
	}
	return nil
}

// digest returns what an approval contains of a remote. An address can contain a password.
func digest(remote *sidebranch.Remote) string {
	if remote == nil {
		return "none"
	}
	sum := sha256.Sum256([]byte(remote.Destination()))
	return hex.EncodeToString(sum[:])
}

// identify adds a random text to those of the store at a path. It follows no link out of the store.
func identify(path, text string) error {
	store, err := regular.OpenRoot(path)
	if err != nil {
		return rooted.WithoutPath(err)
	}
	defer store.Close()
	if err := store.Mkdir(identities, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return rooted.WithoutPath(err)
	}
	dir, err := regular.OpenRootIn(store, identities)
	if err != nil {
		return rooted.WithoutPath(err)
	}
	defer dir.Close()
	file, err := dir.OpenFile(text, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return rooted.WithoutPath(err)
	}
	return file.Close()
}

// approval returns the name of the file that approves the store at a path.
func approval(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:])
}
