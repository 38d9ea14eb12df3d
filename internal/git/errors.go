package git

import (
	"errors"

	"github.com/copse-dev/copse/internal/git/discovery"
)

var (
	// ErrNotRepository reports that there is no repository, or that it no longer exists.
	ErrNotRepository = discovery.ErrNotRepository
	// ErrNoRemote reports that a remote is not configured, or has no URL.
	ErrNoRemote = errors.New("no such remote")
	// ErrBare reports that a bare repository has no worktree.
	ErrBare = errors.New("a bare repository has no worktree")
)

// The errors of [Discover], and of a repository that becomes unusable later.
type (
	// OutsideError reports a directory that is not in a repository.
	OutsideError = discovery.OutsideError
	// UnnamedError reports a directory that looks like a bare repository.
	UnnamedError = discovery.UnnamedError
	// BrokenError reports that a repository exists, and why it is unusable.
	BrokenError = discovery.BrokenError
)
