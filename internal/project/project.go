// Package project reads and lists the files of one directory, the workspace, for readers
// who may see all of it and nothing else.
//
// Create a [Project] with [New]; [Project.Read] returns the lines of a file and
// [Project.List] the entries of a directory. It guarantees that
//
//   - it reads no byte from outside the directory, as package rooted ensures;
//   - git's own directory is closed, under any name and over any link. Files that the project's git tracks
//     are open, whatever their names are;
//   - it waits for nothing: pipes and devices are refused, and a large file costs
//     no more memory than its displayed part;
//   - a listing shows what "git status" would know: it omits files that the patterns of
//     .gitignore files, of the repository, and of the user ignore, unless git tracks
//     them. Outside git, only the .gitignore files apply;
//   - a file that a sparse checkout leaves out is not passed over: its name gets an error of its own,
//     and its directory a warning;
//   - every call answers for the state on disk at that time.
//
// Errors are for display: they name paths as the user did, and state what to do.
// A Project is safe for concurrent use.
package project

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/gitignore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Repository is git's data about the files.
type Repository interface {
	Tracked(ctx context.Context) (index.Paths, error)
	Excludes(ctx context.Context) (git.Excludes, error)
	LeftOut(ctx context.Context) (index.Paths, error)
}

var _ Repository = (*git.Repo)(nil)

// Project is one directory.
type Project struct {
	path       string
	repository func(context.Context) (Repository, error)

	mu       sync.Mutex
	opened   *directory
	patterns map[string]*cachedfile.File[*gitignore.Patterns] // outside the directory, by path
}

// directory is the open directory, while it remains the same one.
type directory struct {
	*rooted.Root
	path  string
	info  fs.FileInfo
	inGit bool // in a git directory
	last  atomic.Pointer[listed]

	mu       sync.Mutex
	patterns map[string]*cachedfile.File[*gitignore.Patterns] // the .gitignore of a directory
	parsed   atomic.Int64                                     // about how many patterns they have
}

// New returns the project of the directory at an absolute path. Each listing calls repository; nil,
// or a nil result, means that there is none.
func New(path string, repository func(context.Context) (Repository, error)) *Project {
	return &Project{path: path, repository: repository, patterns: map[string]*cachedfile.File[*gitignore.Patterns]{}}
}

// Root returns the path of the directory.
func (p *Project) Root() string { return p.path }

// directory returns the directory that is currently at the path.
func (p *Project) directory() (*directory, error) {
	info, err := os.Stat(p.path)
	if regular.Unseen(err) {
		return nil, refusal("The project directory cannot be opened: " + rooted.WithoutPath(err).Error())
	}
	if err != nil {
		return nil, errGone
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.opened != nil && os.SameFile(p.opened.info, info) {
		return p.opened, nil
	}
	// The previous one may still be in use, and is closed when nothing refers to it.
	root, err := rooted.Open(p.path)
	if err != nil {
		return nil, refusal("The project directory cannot be opened: " + err.Error())
	}
	p.opened = &directory{Root: root, path: p.path, info: info, inGit: inGit(filepath.Dir(p.path)), patterns: map[string]*cachedfile.File[*gitignore.Patterns]{}}
	return p.opened, nil
}

// find returns the directory, and the name in it for a user's path. A path can have the form in
// which package foreign shows names with invisible characters.
func (p *Project) find(ctx context.Context, asked string) (*directory, string, error) {
	f, err := p.directory()
	if err != nil {
		return nil, "", err
	}
	name, err := f.Name(asked)
	if plain, spelled := foreign.Unspell(asked); spelled {
		// A file with exactly this name comes first.
		if _, gone := f.Lstat(name); err != nil || gone != nil {
			name, err = f.Name(plain)
		}
	}
	if err != nil {
		return nil, "", explain(asked, err)
	}
	if p.isGits(ctx, f, name) {
		return nil, "", ErrGit
	}
	return f, name, nil
}

// real returns the name of the file at the end of links, which must not be git's own. It is for a name that find
// returned.
func (p *Project) real(ctx context.Context, f *directory, asked, name string) (string, error) {
	real, err := f.Real(name)
	if err != nil {
		return "", explain(asked, err)
	}
	if real != name && p.isGits(ctx, f, real) {
		return "", ErrGit
	}
	return real, nil
}

// refusal is an error that is shown unchanged.
type refusal string

func (r refusal) Error() string { return string(r) }

const (
	// ErrOutside is the error of every path that points outside the project.
	ErrOutside = refusal("Path outside project root")
	// ErrGit is the error for git's own files.
	ErrGit = refusal("Path is inside .git")

	errGone = refusal("The project directory can no longer be read: it was removed, moved, or made private")
)

// NotFoundError reports that the file does not exist.
type NotFoundError struct {
	Path string
	// Sparse means that git tracks the file, and the sparse checkout leaves it out.
	Sparse bool
}

func (e *NotFoundError) Error() string {
	text := "File not found: " + foreign.Path(e.Path)
	if e.Sparse {
		text += " (git tracks it, but this worktree's sparse checkout leaves it out)"
	}
	return text
}

// KindError reports that the file has a type other than requested.
type KindError struct {
	Path string
	// Problem describes the file, and Remedy the next step.
	Problem, Remedy string
}

func (e *KindError) Error() string {
	text := foreign.Path(cmp.Or(e.Path, ".")) + " " + e.Problem
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// maxShown is the number of displayed characters of a path that is too long.
const maxShown = 80

// explain describes an error of package rooted about a path.
func explain(asked string, err error) error {
	switch {
	case errors.Is(err, rooted.ErrOutside):
		return ErrOutside
	case errors.Is(err, fs.ErrNotExist):
		return &NotFoundError{Path: asked}
	case errors.Is(err, fs.ErrPermission):
		return &KindError{Path: asked, Problem: "cannot be read: permission denied"}
	case errors.Is(err, rooted.ErrTooDeep):
		return &KindError{Path: cleantext.Cut(asked, maxShown), Problem: "cannot be opened: " + err.Error()}
	case errors.Is(err, rooted.ErrTooManyLinks):
		return &KindError{Path: asked, Problem: "is part of a loop of symbolic links"}
	case errors.Is(err, rooted.ErrNotDir):
		return &KindError{Path: asked, Problem: "is not a directory", Remedy: "read_file shows files"}
	}
	if special, ok := errors.AsType[*rooted.NotRegularError](err); ok {
		if special.Kind == "directory" {
			return &KindError{Path: asked, Problem: "is a directory", Remedy: "list_directory shows it"}
		}
		return &KindError{Path: asked, Problem: "is a " + special.Kind + ", not a file"}
	}
	return &KindError{Path: asked, Problem: "cannot be read: " + err.Error()}
}

// join returns the name of an entry of a directory. It is path.Join for a clean name of a
// directory, which can be ".", without the cost of cleaning.
func join(dir, name string) string {
	if dir == "." {
		return name
	}
	return dir + "/" + name
}
