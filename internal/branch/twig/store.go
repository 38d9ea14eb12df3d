package twig

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/jsonfile"
	"github.com/copse-dev/copse/internal/rooted"
)

// Name is the state file's name from the root of a worktree, with slashes, as
// messages show it.
const Name = ".twig/state.json"

// MaxSize is the size of the largest state file that is read.
const MaxSize = 64 << 20

// ErrNoState says that there is no state file: twig was never used here.
var ErrNoState = errors.New(Name + ": no such file")

// ErrOutside says that a link on the way to the state file leads out of the worktree.
var ErrOutside = errors.New("a symbolic link leads out of the repository; replace .twig with a directory")

// ErrLink says that the state file is a symbolic link.
var ErrLink = errors.New("is a symbolic link, which is not followed; replace it with the file")

// BadStateError says that there is a state file, and why it cannot be used.
type BadStateError struct {
	Err error // what the file system, [cachedfile] or [Parse] said
}

func (e *BadStateError) Error() string { return Name + ": " + e.Err.Error() }

func (e *BadStateError) Unwrap() error { return e.Err }

// Path returns where the state file of the worktree at root is.
func Path(root string) string { return filepath.Join(root, filepath.FromSlash(Name)) }

// Store is the state of one worktree. It is safe for concurrent use.
type Store struct {
	places   []place // the first that has a file counts
	patience time.Duration
}

// place is one worktree that can have a state file.
type place struct {
	folder noLink
	file   *cachedfile.File[*State]
}

// NewStore returns the state of the worktree at root, "" for a repository without one.
// shared is the directory that all worktrees of the repository share, whose state counts
// while root has none; it is root itself, or empty, when there is no other.
func NewStore(root, shared string) *Store {
	s := &Store{patience: Patience}
	for _, dir := range slices.Compact([]string{root, shared}) {
		if dir != "" {
			s.places = append(s.places, open(dir))
		}
	}
	return s
}

func open(root string) place {
	folder := noLink{rooted.Folder(root)}
	return place{folder, cachedfile.NewIn(folder, Name, MaxSize, Parse)}
}

// noLink is a worktree whose state file is no link: a change would replace it with a file,
// and whoever wrote the repository chose where it leads.
type noLink struct{ rooted.Folder }

// Stat makes noLink a cachedfile.Folder.
func (n noLink) Stat(name string) (fs.FileInfo, error) {
	info, err := n.Lstat(name)
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return nil, ErrLink
	}
	return info, err
}

// Locate returns the directory whose state file counts, and the one whose state file it
// hides, "" for none. Without a file it is the directory that a new one belongs to.
func (s *Store) Locate() (dir, hides string) {
	if len(s.places) == 1 {
		return string(s.places[0].folder.Folder), ""
	}
	for _, p := range s.places {
		_, err := p.folder.Lstat(Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case dir == "":
			dir = string(p.folder.Folder)
		default:
			hides = string(p.folder.Folder)
		}
	}
	if dir == "" && len(s.places) > 0 {
		dir = string(s.places[len(s.places)-1].folder.Folder)
	}
	return dir, hides
}

// Load returns the present state. The error is [ErrNoState] or a
// [*BadStateError]; its text names the file without the path of this machine.
func (s *Store) Load() (*State, error) {
	for _, p := range s.places {
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

// get reads the file, and waits for one that is being written.
func (p place) get(patience time.Duration) (*State, error) {
	state, err := p.file.Get()
	if err == nil || !jsonfile.Incomplete(err) {
		return state, err
	}
	if info, missing := p.folder.Stat(Name); missing == nil && time.Since(info.ModTime()) > abandoned {
		return state, err
	}
	return Complete(patience, p.file.Get)
}

const (
	// Patience is how long a reader waits for a file that is half written.
	Patience = 50 * time.Millisecond
	// interval is how long it waits between two looks.
	interval = 2 * time.Millisecond
	// abandoned is how long ago the last change of an incomplete file was if nobody
	// writes it any longer.
	abandoned = time.Second
)

// Complete calls read, which parses a state file, and calls it again while the
// file is empty or ends too early, as long as patience lasts: the program twig writes it
// in place.
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
