// Package gitlink reads the small files by which git leads from a worktree to its directory: .git of a
// linked worktree or a submodule, and commondir.
//
// Use [Parse] for the text of a .git file, [From] for a path that git wrote, and [CommonDir] and
// [Repository] for the directory that all worktrees share. Nothing that they read leads to another
// machine, or to a file that never ends.
package gitlink

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/elsewhere"
	"github.com/copse-dev/copse/internal/regular"
)

// MaxFile is the maximum size of the small files that git keeps: HEAD and other refs, commondir,
// gitdir, and .git if it is a file.
const MaxFile = 64 << 10

// Parse reads the text of a .git file, which linked worktrees and submodules have: "gitdir: " and a
// path.
func Parse(text string) (path string, ok bool) {
	path, ok = strings.CutPrefix(text, "gitdir: ")
	path = strings.TrimRight(path, "\r\n")
	return path, ok && path != "" && !strings.Contains(path, "\x00")
}

// From returns the path, which git wrote, as seen from dir. It does not clean the path: after a
// symbolic link, ".." leads to an unexpected place, and git would go there.
func From(dir, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return dir + string(filepath.Separator) + path
}

// CommonDir returns the directory that all worktrees of a repository share, with symbolic links
// resolved: gitDir itself, unchanged, in the main worktree.
func CommonDir(gitDir string) (string, error) {
	text, err := regular.Read(filepath.Join(gitDir, "commondir"), MaxFile)
	if regular.Absent(err) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	common := From(gitDir, strings.TrimRight(string(text), "\r\n"))
	if err := elsewhere.Check(filepath.Join(gitDir, "commondir"), common, gitDir); err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(common)
}

// Repository returns the CommonDir to which the .git in dir leads, "" if it leads nowhere.
func Repository(dir string) string {
	path := filepath.Join(dir, ".git")
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		text, err := regular.Read(path, MaxFile)
		if err != nil {
			return ""
		}
		target, ok := Parse(string(text))
		if !ok || elsewhere.Check(path, From(dir, target), dir) != nil {
			return ""
		}
		path = From(dir, target)
	}
	gitDir, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	common, err := CommonDir(gitDir)
	if err != nil {
		return ""
	}
	return common
}
