package conflicts

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

// seen records when the files of worktrees were checked, so a worktree in which nothing has
// happened since costs no check of its files. It is safe for concurrent use.
type seen struct {
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

func newSeen(trees Trees, now func() time.Time) *seen {
	return &seen{trees: trees, now: now, looks: make(map[string]look)}
}

// unchanged reports whether the files of a worktree still have a fingerprint. The second check of a
// worktree starts to watch it: a program that checks once would gain nothing.
func (s *seen) unchanged(ctx context.Context, files fingerprint.Files, sum string) bool {
	s.mu.Lock()
	last, again := s.looks[files.Root]
	s.mu.Unlock()
	now := look{sum: sum, at: s.now()}
	if s.trees != nil && again {
		now.around = files.Around()
		count, watched := s.trees.Count(files.Root)
		if watched && last.valid && last.sum == sum && last.around == now.around && last.count == count && now.at.Sub(last.at) < maxTrust {
			return true
		}
		// Changes count from before the check.
		now.count, now.valid = s.trees.Follow(files.Root, files.Directories())
	}
	found, err := fingerprint.Of(ctx, files)
	same := err == nil && found.Sum == sum
	now.valid = now.valid && same && !found.Linked
	s.mu.Lock()
	s.looks[files.Root] = now
	s.mu.Unlock()
	return same
}
