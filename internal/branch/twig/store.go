package twig

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/jsonfile"
	"github.com/copse-dev/copse/internal/rooted"
)

// Name is the path of the state file from the root of a worktree, with slashes, as messages show
// it.
const Name = ".twig/state.json"

// MaxSize is the maximum size of a state file.
const MaxSize = 64 << 20

// ErrNoState reports that there is no state file: nobody has used twig here.
var ErrNoState = errors.New(Name + ": no such file")

// ErrOutside reports that a link in the path of the state file points outside the worktree.
var ErrOutside = errors.New("a symbolic link points outside the repository; replace .twig with a directory")

// ErrLink reports that the state file is a symbolic link.
var ErrLink = errors.New("is a symbolic link, which is not followed; replace it with the file")

// BadStateError reports that a state file exists, and why it is unusable.
type BadStateError struct {
	Err error // from the file system, [cachedfile], or [Parse]
}

func (e *BadStateError) Error() string { return Name + ": " + e.Err.Error() }

func (e *BadStateError) Unwrap() error { return e.Err }

// Path returns the path of the state file of the worktree at root.
func Path(root string) string { return filepath.Join(root, filepath.FromSlash(Name)) }

// Store is the state of one worktree. It is safe for concurrent use.
type Store struct {
	locations []location // the first that has a file is used
	patience  time.Duration
}

// location is one worktree that can have a state file.
type location struct {
	directory noLink
	file      *cachedfile.File[*State]
}

// NewStore returns the state of the worktree at root, "" for a repository without one. shared is
// the directory that all worktrees of the repository share. Its state is used while root has none.
// It is root itself, or empty, if there is no other.
func NewStore(root, shared string) *Store {
	s := &Store{patience: Patience}
	for _, dir := range slices.Compact([]string{root, shared}) {
		if dir != "" {
			s.locations = append(s.locations, open(dir))
		}
	}
	return s
}

func open(root string) location {
	directory := noLink{rooted.Directory(root)}
	return location{directory, cachedfile.NewIn(directory, Name, MaxSize, Parse)}
}

// noLink is a worktree whose state file is not a link: a change would replace the link with a file,
// and the author of the repository chose its target.
type noLink struct{ rooted.Directory }

// Stat implements cachedfile.Directory.
func (n noLink) Stat(name string) (fs.FileInfo, error) {
	if info, ok := n.direct(name); ok {
		return info, nil
	}
	info, err := n.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrLink
	}
	return info, err
}

// Open opens the file.
func (n noLink) Open(name string) (*os.File, error) {
	if _, err := os.Lstat(n.dir(name)); errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist // most repositories have no state, and this takes one system call
	}
	return n.Directory.Open(name)
}

// direct returns what Lstat returns for a regular file in a directory that is not a link either. It takes two
// system calls instead of seven. If another file takes the place of the directory in between, the
// result can be that of a file elsewhere. It only decides whether the file is opened again, and
// opening is limited to the worktree.
func (n noLink) direct(name string) (info fs.FileInfo, ok bool) {
	dir, err := os.Lstat(n.dir(name))
	if err != nil || !dir.IsDir() {
		return nil, false
	}
	info, err = os.Lstat(filepath.Join(string(n.Directory), filepath.FromSlash(name)))
	return info, err == nil && info.Mode().IsRegular()
}

// dir returns the path of the directory with the file.
func (n noLink) dir(name string) string {
	return filepath.Join(string(n.Directory), filepath.FromSlash(path.Dir(name)))
}

// Locate returns the directory whose state file is in use, and the one whose state file it hides,
// "" for none. Without a file, it returns the directory where a new one belongs.
func (s *Store) Locate() (dir, hides string) {
	if len(s.locations) == 1 {
		return string(s.locations[0].directory.Directory), ""
	}
	for _, p := range s.locations {
		_, err := p.directory.Lstat(Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case dir == "":
			dir = string(p.directory.Directory)
		default:
			hides = string(p.directory.Directory)
		}
	}
	if dir == "" && len(s.locations) > 0 {
		dir = string(s.locations[len(s.locations)-1].directory.Directory)
	}
	return dir, hides
}

// Load returns the current state. The error is [ErrNoState] or a [*BadStateError]; its text names
// the file without the path of this machine.
func (s *Store) Load() (*State, error) {
	for _, p := range s.locations {
		state, err := p.get(s.patience)
		switch {
		case err == nil:
			return state, nil
		case errors.Is(err, rooted.ErrOutside):
			return nil, &BadStateError{Err: ErrOutside}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, &BadStateError{Err: err}
		}
	}
	return nil, ErrNoState
}

// get reads the file, and waits if another process is writing it.
func (p location) get(patience time.Duration) (*State, error) {
	state, err := p.file.Get()
	if err == nil || !jsonfile.Incomplete(err) {
		return state, err
	}
	if info, missing := p.directory.Stat(Name); missing == nil && time.Since(info.ModTime()) > abandoned {
		return state, err
	}
	return Complete(patience, p.file.Get)
}

const (
	// Patience is how long a reader waits for a half-written file.
	Patience = 50 * time.Millisecond
	// interval is the time between two attempts.
	interval = 2 * time.Millisecond
	// abandoned is the age of the last change after which nobody is writing an incomplete file.
	abandoned = time.Second
)

// Complete calls read, which parses a state file, and calls it again while the file is empty or
// ends too early, for at most the patience: the program twig writes it in place.
func Complete[T any](patience time.Duration, read func() (T, error)) (T, error) {
	begun := time.Now()
	for {
		out, err := read()
		if !jsonfile.Incomplete(err) || time.Since(begun) > patience {
			return out, err
		}
		time.Sleep(interval)
	}
}
