package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/rooted"
)

// folderName is the name of the directory of a store.
const folderName = ".tic"

// Location says where a store is looked for. Paths are absolute.
type Location struct {
	// Dir is the working directory. The store is the one in it or in the next directory above that
	// has one, up to Root.
	Dir string
	// Root is the root of the git worktree that Dir is in; empty outside of git,
	// where only Dir is looked at.
	Root string
	// Main is the root of the main worktree, if Root is that of a linked one.
	// Its store is used where the linked worktree has none of its own.
	Main string
	// Elsewhere returns the directory in which the user keeps the items of this place
	// instead, and false if the user does not say; nil is false.
	Elsewhere func() (path string, ok bool, err error)
	// Done returns the statuses that mean done where the store's configuration does not
	// say; nil is none.
	Done func() ([]string, error)
	// Shared is where the store is that all worktrees of the repository share,
	// outside of their trees; empty outside of git. It counts before those in the
	// roots of worktrees, which branches can bring along, and after those in
	// directories below a root.
	Shared string
	// Caches is a directory of the user's for what was read of large stores, so that the
	// next process need not parse all files; empty is none.
	Caches string
}

// find returns the directory of the store. A link leads to another place only where the
// user says so: a link in a repository could lead anywhere. The error can be
// [item.ErrNoProject].
func (p Location) find() (rooted.Dir, error) {
	if path, ok, err := p.elsewhere(); ok || err != nil {
		if info, err := os.Stat(path); ok && (err != nil || !info.IsDir()) {
			return rooted.Dir{}, item.ErrNoProject
		}
		return rooted.Dir{Wall: path, Name: "."}, err
	}
	for _, dir := range p.folders() {
		if (dir == p.Root || dir == p.Main) && p.hasShared() {
			return p.sharedDir(), nil
		}
		store := rooted.Dir{Wall: dir, Name: folderName}
		switch info, err := os.Lstat(store.Path()); {
		case err != nil:
			continue
		case info.IsDir():
			return store, nil
		case info.Mode()&fs.ModeSymlink == 0:
			continue
		}
		opened, err := store.Open()
		if errors.Is(err, rooted.ErrOutside) {
			return rooted.Dir{}, &item.ConfigError{
				File:   folderName,
				Reason: "is a symbolic link that leads out of the project; replace it with the directory, or name the directory in items.directory of your own settings",
			}
		}
		if err == nil {
			_ = opened.Close()
			return store, nil
		}
	}
	return rooted.Dir{}, item.ErrNoProject
}

func (p Location) elsewhere() (dir string, ok bool, err error) {
	if p.Elsewhere == nil {
		return "", false, nil
	}
	if dir, ok, err = p.Elsewhere(); err != nil {
		return "", false, &item.ConfigError{File: folderName, Reason: "cannot be found: " + err.Error()}
	}
	return dir, ok, nil
}

// create makes the directory of a new store.
func (p Location) create() (rooted.Dir, error) {
	path, ok, err := p.elsewhere()
	if err != nil {
		return rooted.Dir{}, err
	}
	store, make := rooted.Dir{Wall: p.Dir, Name: folderName}, os.Mkdir
	if ok {
		store, make = rooted.Dir{Wall: path, Name: "."}, os.MkdirAll
	}
	if err := make(store.Path(), 0o777); err != nil && !os.IsExist(err) {
		return rooted.Dir{}, fmt.Errorf("create directory %s: %w", folderName, lockedstore.WithoutPath(err))
	}
	return store, nil
}

// sharedDir returns the shared store, which may lead over no link out of git's directory.
func (p Location) sharedDir() rooted.Dir {
	return rooted.Dir{Wall: filepath.Dir(filepath.Dir(p.Shared)), Name: path.Join(filepath.Base(filepath.Dir(p.Shared)), filepath.Base(p.Shared))}
}

// hasShared reports whether there is a shared store. It is no symbolic link, nor in
// one: those could lead anywhere.
func (p Location) hasShared() bool {
	if p.Shared == "" {
		return false
	}
	for _, dir := range []string{p.Shared, filepath.Dir(p.Shared)} {
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// directories are those that can have a store, in their order.
func (p Location) folders() []string {
	list := []string{p.Dir}
	if p.Root == "" {
		return list
	}
	if up, err := filepath.Rel(p.Dir, p.Root); err == nil {
		// The way up is only dots: "../..". A root that is elsewhere, as behind a symbolic link, is
		// the next directory.
		steps := strings.Split(up, string(filepath.Separator))
		if !slices.ContainsFunc(steps, func(s string) bool { return s != ".." }) {
			for dir := filepath.Dir(p.Dir); dir != p.Root && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
				list = append(list, dir)
			}
		}
	}
	for _, root := range []string{p.Root, p.Main} {
		if root != "" && !slices.Contains(list, root) {
			list = append(list, root)
		}
	}
	return list
}
