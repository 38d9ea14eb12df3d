// Package location finds the directory of a store of work items, and creates it.
//
// Use [Search.Find] for the store of a directory, and [Search.Create] for the directory of a new
// one. Nothing is cached: each call searches again, so it notices a store that appears or
// disappears. A symbolic link may point elsewhere only if the user's own settings name it, because
// a repository can contain links.
package location

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Name is the name of the directory of a store.
const Name = ".tic"

// Search is where to look for a store. Paths are absolute.
type Search struct {
	// Dir is the working directory. The search uses the store in it or in the nearest directory
	// above, up to Root.
	Dir string
	// Root is the root of the git worktree that contains Dir; empty outside git, where only Dir
	// is searched.
	Root string
	// Main is the root of the main worktree, if Root is that of a linked one.
	// Its store is used where the linked worktree has none of its own.
	Main string
	// Elsewhere returns the user's directory for the items of this directory, and false if the user has
	// not set one; nil is false.
	Elsewhere func() (path string, ok bool, err error)
	// Shared is the store that all worktrees of the repository share, outside their trees; empty
	// outside git. It takes precedence over stores in the roots of worktrees, which branches can
	// contain, but not over stores in directories below a root.
	Shared string
	// Unseen is the reason why the repository of Dir, and thus its store, cannot be seen.
	Unseen error
	// Owned reports whether the user created the shared store on this machine, or has requested its sync:
	// a repository that arrives as an archive brings another one's. nil is true.
	Owned func() bool
	// Sparse finds the stores that a sparse checkout leaves out; nil finds none.
	Sparse *Sparse
}

// ErrLeftOut is the cause of the error about a store that a sparse checkout leaves out.
var ErrLeftOut = errors.New("left out by a sparse checkout")

// Find returns the directory of the store. The error can be [storage.ErrNoProject] or [ErrLeftOut].
func (p Search) Find() (rooted.Dir, error) {
	if dir, found, err := p.named(); found || err != nil {
		return dir, err
	}
	if p.Unseen != nil {
		return rooted.Dir{}, unseen(".git", p.Unseen)
	}
	for _, dir := range p.directories() {
		if dir == p.Root || dir == p.Main {
			if shared, err := p.HasShared(); shared || err != nil {
				return p.SharedDir(), err
			}
		}
		store := rooted.Dir{Wall: dir, Name: Name}
		if err := p.Sparse.check(store); err != nil {
			return rooted.Dir{}, err
		}
		switch info, err := os.Lstat(store.Path()); {
		case regular.Absent(err):
			continue
		case err != nil:
			return rooted.Dir{}, unseen(Name, err)
		case info.IsDir():
			return store, nil
		case info.Mode()&fs.ModeSymlink == 0:
			continue
		}
		opened, err := store.Open()
		if errors.Is(err, rooted.ErrOutside) {
			return rooted.Dir{}, &storage.ConfigError{
				File:   Name,
				Reason: "is a symbolic link that points outside the project; replace it with the directory, or name the directory in items.directory of your own settings",
			}
		}
		if err == nil {
			_ = opened.Close()
			return store, nil
		}
		if !regular.Absent(err) {
			return rooted.Dir{}, unseen(Name, err)
		}
	}
	return rooted.Dir{}, storage.ErrNoProject
}

// named returns the directory of the store if the user's settings name it.
func (p Search) named() (dir rooted.Dir, ok bool, err error) {
	path, ok, err := p.elsewhere()
	if !ok || err != nil {
		return rooted.Dir{}, false, err
	}
	dir = rooted.Dir{Wall: path, Name: "."}
	if err := p.Sparse.check(dir); err != nil {
		return rooted.Dir{}, false, err
	}
	if info, err := os.Stat(path); regular.Absent(err) || err == nil && !info.IsDir() {
		return rooted.Dir{}, false, storage.ErrNoProject
	}
	return dir, true, nil
}

func (p Search) elsewhere() (dir string, ok bool, err error) {
	if p.Elsewhere == nil {
		return "", false, nil
	}
	if dir, ok, err = p.Elsewhere(); err != nil {
		return "", false, &storage.ConfigError{File: "the place of the work items", Reason: "is unknown: " + err.Error()}
	}
	return dir, ok, nil
}

// Create creates the directory of a new store and returns it.
func (p Search) Create() (rooted.Dir, error) {
	path, ok, err := p.elsewhere()
	if err != nil {
		return rooted.Dir{}, err
	}
	store, make := rooted.Dir{Wall: p.Dir, Name: Name}, os.Mkdir
	if ok {
		store, make = rooted.Dir{Wall: path, Name: "."}, os.MkdirAll
	}
	if err := make(store.Path(), 0o777); err != nil && !os.IsExist(err) {
		return rooted.Dir{}, fmt.Errorf("create directory %s: %w", Name, rooted.WithoutPath(err))
	}
	return store, nil
}

// SharedDir returns the directory of the shared store, whether or not it exists. No link
// leads from it out of git's directory.
func (p Search) SharedDir() rooted.Dir {
	return rooted.Dir{Wall: filepath.Dir(filepath.Dir(p.Shared)), Name: path.Join(filepath.Base(filepath.Dir(p.Shared)), filepath.Base(p.Shared))}
}

// CreateShared creates the directory of the shared store, unless it exists. It follows no link out of
// the directory that has the store.
func (p Search) CreateShared() error {
	dir := p.SharedDir()
	root, err := regular.OpenRoot(dir.Wall)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(filepath.FromSlash(dir.Name), 0o777)
}

// HasShared reports whether there is a shared store. A symbolic link does not count, and
// neither does a directory below one. An error means that the store cannot be seen. It does not count as
// missing, because the items in the tree would then be used again.
func (p Search) HasShared() (bool, error) {
	if p.Shared == "" {
		return false, nil
	}
	for _, dir := range []string{filepath.Dir(p.Shared), p.Shared} {
		info, err := os.Lstat(dir)
		switch {
		case err == nil && !info.IsDir(), regular.Absent(err):
			return false, nil
		case err != nil:
			return false, unseen(".git/"+p.SharedDir().Name, err)
		}
	}
	return true, nil
}

// unseen returns the error of a directory of which nobody knows whether it is there.
func unseen(name string, err error) error {
	return &storage.ConfigError{
		File:   name,
		Reason: fmt.Sprintf("cannot be seen: %v. It may have the items of this project, so copse uses no others; let your account enter the directories above it", rooted.WithoutPath(err)),
	}
}

// directories returns the possible directories of a store, in their order of precedence.
func (p Search) directories() []string {
	list := []string{p.Dir}
	if p.Root == "" {
		return list
	}
	if up, err := filepath.Rel(p.Dir, p.Root); err == nil {
		// The way up is only dots: "../..". A root that is elsewhere, as behind
		// a symbolic link, is the next directory.
		steps := strings.Split(up, string(filepath.Separator))
		if !slices.ContainsFunc(steps, func(s string) bool { return s != ".." }) {
			for dir := filepath.Dir(p.Dir); dir != p.Root && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
				list = append(list, dir)
			}
		}
	}
	all := distinct.Of(list...)
	for _, root := range []string{p.Root, p.Main} {
		if root != "" {
			all.Add(root)
		}
	}
	return all.Values()
}
