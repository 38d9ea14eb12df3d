package discovery

import (
	"errors"
	"fmt"
)

// ErrNotRepository reports that there is no repository, or that it no longer exists.
var ErrNotRepository = errors.New("not in a git repository")

// OutsideError reports a directory that is not in a repository. It is an [ErrNotRepository].
type OutsideError struct {
	Dir string
	// Unreadable is why the directory cannot be found; nil if it exists.
	Unreadable error
}

func (e *OutsideError) Error() string {
	text := fmt.Sprintf("find git repository from %q: %v", e.Dir, ErrNotRepository)
	if e.Unreadable != nil {
		text += ": " + e.Unreadable.Error()
	}
	return text
}

func (e *OutsideError) Unwrap() []error {
	if e.Unreadable != nil {
		return []error{ErrNotRepository, e.Unreadable}
	}
	return []error{ErrNotRepository}
}

// UnnamedError reports a directory that looks like a bare repository. Anybody can commit one, with
// a configuration of their choice, so copse uses it only if the user names it. It is an
// [ErrNotRepository].
type UnnamedError struct{ Dir string }

func (e *UnnamedError) Error() string {
	return fmt.Sprintf("find git repository: %q looks like a bare repository; to use it, pass --repo %[1]q", e.Dir)
}

func (e *UnnamedError) Unwrap() error { return ErrNotRepository }

// BrokenError reports that a repository exists, and why it is unusable. Git refuses it, too.
type BrokenError struct {
	// Path is the damaged file or directory.
	Path string
	// Problem describes the damage.
	Problem string
	// Remedy is the next step for a person.
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
