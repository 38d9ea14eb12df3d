package uncommitted

import (
	"context"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/git/fingerprint"
)

// Trees counts the changes below directories; see package dirwatch.
type Trees interface {
	// Follow watches directories below a root, and returns the number of changes there; false if
	// they cannot be observed.
	Follow(root string, dirs []string) (count uint64, ok bool)
	// Count returns the same without beginning to watch.
	Count(root string) (count uint64, ok bool)
}

// maxTrust is how long files without a reported change go unchecked: a file that is mapped into
// memory, or linked elsewhere, can change without a report.
const maxTrust = 5 * time.Minute

// Finder finds the uncommitted changes of worktrees. It records when their files were checked, so a
// worktree in which nothing has happened since costs no check of its files. It is safe for
// concurrent use.
type Finder struct {
	trees Trees // nil for nobody who watches
	now   func() time.Time

	mu    sync.Mutex
	looks map[string]look // by root
}

// look is one look at all files of a worktree.
type look struct {
	sum    string // of the files
	around string // of what is not below the root
	count  uint64 // of the changes before
	at     time.Time
	valid  bool // changes since are reported
}

// New returns a finder. Trees are nil for a program that asks once.
func New(trees Trees, now func() time.Time) *Finder {
	return &Finder{trees: trees, now: now, looks: make(map[string]look)}
}

// unchanged reports whether the files of a worktree still have a fingerprint. The second check of a
// worktree starts to watch it: a program that checks once would gain nothing.
func (f *Finder) unchanged(ctx context.Context, files fingerprint.Files, sum string) bool {
	f.mu.Lock()
	last, again := f.looks[files.Root]
	f.mu.Unlock()
	now := look{sum: sum, at: f.now()}
	if f.trees != nil && again {
		now.around = files.Around()
		count, watched := f.trees.Count(files.Root)
		if watched && last.valid && last.sum == sum && last.around == now.around && last.count == count && now.at.Sub(last.at) < maxTrust {
			return true
		}
		// The count starts before the check.
		now.count, now.valid = f.trees.Follow(files.Root, files.Directories())
	}
	found, err := fingerprint.Of(ctx, files)
	same := err == nil && found.Sum == sum
	now.valid = now.valid && same && !found.Linked
	f.mu.Lock()
	f.looks[files.Root] = now
	f.mu.Unlock()
	return same
}
