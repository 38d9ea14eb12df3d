package hazard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/regular"
)

// Below these, git writes in ways other than for a ref: it creates files, appends to them, or
// follows a link to the file that it replaces.
var (
	worktreeWrites = []string{"HEAD", "index", "logs", "logs/HEAD", "refs", "config.worktree", "reftable"}
	commonWrites   = []string{
		"HEAD", "config", "info", "logs", "logs/HEAD", "logs/refs", "logs/refs/heads", "logs/refs/stash", "objects", "packed-refs", "refs",
		"refs/heads", "refs/stash", "reftable", "shallow", "worktrees",
	}
	// commonLists are directories in which git can write each entry.
	commonLists = []string{"objects", "objects/info", "reftable"}
)

// RedirectedError reports that a write of git would leave git's directory.
type RedirectedError struct{ Mode fs.FileMode }

func (e *RedirectedError) Error() string {
	return "is a " + regular.Kind(e.Mode) + ", through which git would write elsewhere"
}

// Writing returns an error if a write of git to these refs, their logs, the objects, the index, or
// the configuration would leave git's directories: if something on the way is neither a directory
// nor a regular file. An archive can contain links there, for example from the log of a branch to
// ~/.bashrc. Call it before each command of git that writes; the error is an [*fs.PathError] with a
// [*RedirectedError].
func Writing(l Layout, refs ...string) error {
	var paths []string
	for _, name := range worktreeWrites {
		paths = append(paths, filepath.Join(l.GitDir, filepath.FromSlash(name)))
	}
	for _, name := range commonWrites {
		paths = append(paths, filepath.Join(l.CommonDir, filepath.FromSlash(name)))
	}
	for _, ref := range refs {
		for _, top := range []string{"", "logs"} {
			path := filepath.Join(l.CommonDir, top)
			for part := range strings.SplitSeq(ref, "/") {
				path = filepath.Join(path, part)
				paths = append(paths, path)
			}
		}
	}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil {
			continue // git creates it, or reports the problem
		}
		if err := plain(path, info.Mode()); err != nil {
			return err
		}
	}
	for _, name := range commonLists {
		if err := plainEntries(filepath.Join(l.CommonDir, filepath.FromSlash(name))); err != nil {
			return err
		}
	}
	return nil
}

// plainEntries is plain for each entry of a directory, which need not exist.
func plainEntries(dir string) error {
	entries, err := regular.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("check the files of git: %w", err)
	}
	for _, e := range entries {
		if err := plain(filepath.Join(dir, e.Name()), e.Type()); err != nil {
			return err
		}
	}
	return nil
}

func plain(path string, mode fs.FileMode) error {
	if mode.IsDir() || mode.IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "write", Path: path, Err: &RedirectedError{Mode: mode}}
}
