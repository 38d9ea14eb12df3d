package gitmerge

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/regular"
)

// Rewritten is a branch whose commits git copies one after the other, so the numbers in them can
// have another meaning in the new place.
type Rewritten struct {
	From string // the last commit of the branch before
	Onto string // what it is to follow
}

// maxName is the maximum size of git's files about a rebase: each has the name of a commit.
const maxName = 1 << 10

// Rewritten returns the branch that the current rebase rewrites; ok is false if there is none.
func (r *Repo) Rewritten() (w Rewritten, ok bool) {
	directory, ok := r.rebaseDir()
	if !ok {
		return Rewritten{}, false
	}
	from, fromErr := regular.Read(filepath.Join(directory, "orig-head"), maxName)
	onto, ontoErr := regular.Read(filepath.Join(directory, "onto"), maxName)
	w = Rewritten{strings.TrimSpace(string(from)), strings.TrimSpace(string(onto))}
	return w, fromErr == nil && ontoErr == nil && w.From != "" && w.Onto != ""
}

// Before returns the store as it was on the branch before it was rewritten, and where it
// had left what it follows now. Commits that are gone give no files.
func (r *Repo) Before(ctx context.Context, w Rewritten) (base, branch merge.Tree, err error) {
	from, err := r.commit(ctx, w.From)
	if err != nil || from == "" {
		return nil, nil, err
	}
	onto, err := r.commit(ctx, w.Onto)
	if err != nil || onto == "" {
		return nil, nil, err
	}
	if branch, err = r.tree(ctx, from); err != nil {
		return nil, nil, err
	}
	base, err = r.commonTree(ctx, from, onto)
	return base, branch, err
}
