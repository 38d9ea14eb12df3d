package git

import (
	"errors"
	"fmt"
)

var (
	// ErrNotRepository says that there is no repository, or none any more.
	ErrNotRepository = errors.New("not in a git repository")
	// ErrNoRemote says that a remote is not configured, or has no URL.
	ErrNoRemote = errors.New("no such remote")
	// ErrBare says that a bare repository was asked about its worktree.
	ErrBare = errors.New("a bare repository has no worktree")
)

// BrokenError says that there is a repository, and why it cannot be used. Git
// refuses it too.
type BrokenError struct {
	// Path is the file or directory that is not as it should be.
	Path string
	// Problem says what is wrong with it.
	Problem string
	// Remedy says what a person can do.
	Remedy string
	// Err is the cause, if there is one.
	Err error
}

func (e *BrokenError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("open git repository: %q %s: %v; %s", e.Path, e.Problem, e.Err, e.Remedy)
	}
	return fmt.Sprintf("open git repository: %q %s; %s", e.Path, e.Problem, e.Remedy)
}

func (e *BrokenError) Unwrap() error { return e.Err }
