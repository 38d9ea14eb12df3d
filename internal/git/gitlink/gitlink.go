// Package gitlink reads the small files by which git leads from a worktree to its directory: .git of a
// linked worktree or a submodule, and commondir.
//
// Use [Parse] for the text of a .git file, [Path] for that of the others, [From] for the path in it, and
// [CommonDir] and [Repository] for the directory that all worktrees share. They follow what git follows: a
// repository that git opens, and copse does not see, would be one that copse does not examine. Nothing that
// they read leads to another machine, to a file that is another one in each process, or to a file that never ends.
package gitlink

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/elsewhere"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// MaxFile is the maximum size of the small files that git keeps: HEAD and other refs, commondir, and
	// gitdir. No system follows a longer path.
	MaxFile = 64 << 10
	// MaxGitFile is the maximum size of .git if it is a file. Git reads no larger one.
	MaxGitFile = 1 << 20
)

// Parse reads the text of a .git file, which linked worktrees and submodules have: "gitdir: " and a
// path.
func Parse(text string) (path string, ok bool) {
	path, ok = strings.CutPrefix(text, "gitdir: ")
	if !ok || strings.TrimRight(path, "\r\n") == "" {
		return "", false
	}
	if path = cmp.Or(Path(path), "."); len(path) > MaxFile { // git joins an empty one to the directory
		return "", false
	}
	return path, true
}

// Path returns the path in the text of commondir or gitdir: without the line ends, and up to a NUL, because git
// then passes it to the system.
func Path(text string) string {
	path, _, _ := strings.Cut(strings.TrimRight(text, "\r\n"), "\x00")
	return path
}

// From returns the path, which git wrote, as seen from dir. It does not clean the path: after a
// symbolic link, ".." leads to an unexpected place, and git would go there.
func From(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) || filepath.VolumeName(path) != "" || path != "" && os.IsPathSeparator(path[0]) {
		return path // those on Windows that are not absolute are not relative to dir either
	}
	return dir + string(filepath.Separator) + path
}

// Follow returns the target, without links, of a path that a file in dir names. It must exist. The directories from are
// those of elsewhere.Check.
func Follow(file, dir, path string, from ...string) (string, error) {
	target := From(dir, path)
	if err := elsewhere.Check(file, target, from...); err != nil {
		return "", err
	}
	return elsewhere.Resolve(file, target)
}

// CommonDir returns the directory that all worktrees of a repository share, with symbolic links
// resolved: gitDir itself, unchanged, in the main worktree.
func CommonDir(gitDir string) (string, error) {
	path := filepath.Join(gitDir, "commondir")
	if _, err := os.Lstat(path); regular.Absent(err) {
		return gitDir, nil // as in most repositories
	}
	if err := elsewhere.Link(path); err != nil {
		return "", err
	}
	text, err := regular.Read(path, MaxFile)
	if regular.Absent(err) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	return Follow(path, gitDir, Path(string(text)), gitDir)
}

// named returns the path that the .git in dir names, as seen from dir: its own if it is a directory or a link to
// one, "" if git follows it nowhere. An error is one of the package elsewhere.
func named(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Lstat(path)
	if err != nil {
		return "", nil //nolint:nilerr // git does not follow it either; there are thousands of submodules without one
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if err := elsewhere.Leads(path, path); err != nil {
			return "", err
		}
		if info, err = os.Stat(path); err != nil {
			return "", nil //nolint:nilerr // git does not follow it either
		}
	}
	if info.IsDir() {
		return path, nil
	}
	text, err := regular.Read(path, MaxGitFile)
	if err != nil {
		return "", nil //nolint:nilerr // git does not read it either
	}
	named, _ := Parse(string(text))
	return named, nil
}

// GitDir returns the directory to which the .git in dir leads, "" if git follows it nowhere. An error is one of
// the package elsewhere: git follows what this package does not.
func GitDir(dir string) (string, error) {
	named, err := named(dir)
	if err != nil || named == "" {
		return "", err
	}
	gitDir, err := Follow(filepath.Join(dir, ".git"), dir, named, dir)
	if _, away := errors.AsType[*elsewhere.Error](err); away {
		return "", err
	}
	return gitDir, nil // "" if there is nothing
}

// Repository returns the CommonDir to which the .git in dir leads, "" if it leads nowhere.
func Repository(dir string) string {
	gitDir, err := GitDir(dir)
	if err != nil || gitDir == "" {
		return ""
	}
	common, err := CommonDir(gitDir)
	if err != nil {
		return ""
	}
	return common
}
