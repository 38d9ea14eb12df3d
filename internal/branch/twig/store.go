package twig

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// Name is the state file's name from the root of a worktree, with slashes, as
// messages show it.
const Name = ".twig/state.json"

// MaxSize is the size of the largest state file that is read.
const MaxSize = 64 << 20

// ErrNoState says that there is no state file: twig was never used here.
var ErrNoState = errors.New(Name + ": no such file")

// BadStateError says that there is a state file, and why it cannot be used.
type BadStateError struct {
	Err error // what the file system, [cachedfile] or [Parse] said
}

func (e *BadStateError) Error() string { return Name + ": " + e.Err.Error() }

func (e *BadStateError) Unwrap() error { return e.Err }

// Path is where the state file of the worktree at root is.
func Path(root string) string { return filepath.Join(root, filepath.FromSlash(Name)) }

// Store is the state of one worktree. It is safe for concurrent use.
type Store struct {
	files []*cachedfile.File[*State] // the first that exists counts
}

// NewStore returns the state of the worktree at root. mainRoot is the main
// worktree of the same repository, whose state stands in while root has none;
// it is root itself, or empty, when there is no other.
func NewStore(root, mainRoot string) *Store {
	s := &Store{files: []*cachedfile.File[*State]{cachedfile.New(Path(root), MaxSize, Parse)}}
	if mainRoot != "" && mainRoot != root {
		s.files = append(s.files, cachedfile.New(Path(mainRoot), MaxSize, Parse))
	}
	return s
}

// Load returns the present state. The error is [ErrNoState] or a
// [*BadStateError]; its text names the file without the path of this machine.
func (s *Store) Load() (*State, error) {
	for _, file := range s.files {
		state, err := file.Get()
		switch {
		case err == nil:
			return state, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, &BadStateError{Err: err}
		}
	}
	return nil, ErrNoState
}
