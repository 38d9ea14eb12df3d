package sidebranch

import (
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/git/objects"
)

const (
	// maxCommit is the size in bytes of the largest commit of a branch that is received. Each process
	// that walks the history reads all of it into memory.
	maxCommit = 1 << 20
	// maxTree is that of the largest root directory: a list of its files could not be larger.
	maxTree = maxList
)

// complete reports whether a commit of a remote is here with all that belongs to it. The error names a
// commit that is too large. A branch that is at from has the history of that commit already.
func (b *Branch) complete(ctx context.Context, theirs, from Commit) (bool, error) {
	// The tip comes first, because this reads the beginning of an object only.
	here, err := b.check(ctx, []string{string(theirs)})
	if err != nil || !here || !b.Has(ctx, theirs) {
		return false, err
	}
	if theirs == from {
		return true, nil
	}
	args := []string{"rev-list", string(theirs)}
	if b.Has(ctx, from) {
		args = append(args, "^"+string(from))
	}
	out, err := b.git(ctx, nil, args...)
	if err != nil {
		return false, fmt.Errorf("list the commits of the branch: %w", err)
	}
	commits := strings.Fields(string(out))
	if len(commits) == 0 {
		return true, nil
	}
	return b.check(ctx, append(commits, string(theirs)+"^{tree}"))
}

// check returns an error if a commit or a tree is too large, and whether all are here.
func (b *Branch) check(ctx context.Context, names []string) (here bool, err error) {
	found, err := objects.Describe(ctx, b.git, names...)
	if err != nil {
		return false, fmt.Errorf("inspect the commits of the branch: %w", err)
	}
	here = true
	for _, o := range found {
		switch {
		case o.Kind == "":
			here = false
		case o.Kind == "commit" && o.Size > maxCommit:
			return false, fmt.Errorf("commit %.12s of the branch has a message or header of %d bytes, and the limit is %d: it was not received. "+
				"Set the branch of the remote to a history without this commit, and sync again", o.Hash, o.Size, maxCommit)
		case o.Kind == "tree" && o.Size > maxTree:
			return false, fmt.Errorf("the directory of commit %.12s of the branch has %d bytes, and the limit is %d: it was not received. "+
				"Remove files from the branch of the remote, and sync again", names[0], o.Size, maxTree)
		}
	}
	return here, nil
}
