package refstore

import (
	"errors"
	"fmt"
	"strings"
)

// Head describes HEAD.
type Head struct {
	// Branch is the short name of the branch; empty if Detached.
	Branch string
	// Commit is the hash of the commit; empty if Unborn.
	Commit string
	// Detached means that HEAD is a commit, or a ref that is not a branch.
	Detached bool
	// Unborn means that the branch has no commit yet.
	Unborn bool
}

// Head returns the HEAD of the worktree. If the branch is known but its commit cannot be read (the
// file of the ref is damaged), Branch is set in addition to the error, which then wraps
// [ErrBroken].
func (s *Store) Head() (Head, error) {
	ref, err := s.Resolve("HEAD")
	branch, onBranch := strings.CutPrefix(ref.Name, BranchPrefix)
	switch {
	case errors.Is(err, ErrBroken) && onBranch && ValidName(ref.Name):
		return Head{Branch: branch}, fmt.Errorf("read HEAD: %w", err)
	case err != nil:
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	case onBranch:
		return Head{Branch: branch, Commit: ref.Hash, Unborn: ref.Hash == ""}, nil
	case ref.Hash == "":
		return Head{}, fmt.Errorf("read HEAD: %w: it names %q, which does not exist", ErrBroken, ref.Name)
	default:
		return Head{Detached: true, Commit: ref.Hash}, nil
	}
}
