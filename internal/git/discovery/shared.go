package discovery

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/regular"
)

// maxSiblings is the number of entries of a directory to search for other repositories.
const maxSiblings = 4096

// findSharedRoot returns the SharedRoot; dotGit is the directory whose .git led here.
func (l *Location) findSharedRoot(dotGit string) string {
	usual := filepath.Base(l.CommonDir) == ".git"
	switch {
	case l.GitDir != l.CommonDir && l.MainRoot != "":
		return l.MainRoot
	case l.GitDir != l.CommonDir && (usual || !l.Owned):
		return ""
	case l.GitDir == l.CommonDir && l.Root != "" && (usual || l.Named || l.Root != dotGit):
		return l.Root
	case slices.Contains(strings.Split(filepath.ToSlash(l.CommonDir), "/"), ".git"):
		return l.MainRoot // a submodule
	}
	dir := filepath.Dir(l.CommonDir)
	if !l.alone(dir) {
		return l.MainRoot
	}
	return dir
}

// alone reports whether a directory belongs to no other repository.
func (l *Location) alone(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		gitDir, _ := l.GitDirOf(dir)
		return gitDir != ""
	}
	file, err := os.OpenFile(dir, regular.Flags, 0)
	if err != nil {
		return false
	}
	defer file.Close()
	entries, _ := file.ReadDir(maxSiblings)
	if len(entries) == maxSiblings {
		return false // too many to examine
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && path != l.CommonDir && checkGitDir(path) == nil {
			return false
		}
	}
	return true
}

// knownRoot returns the path by which the main repository knows this linked worktree, "" if it does
// not know it. The same directory can have several paths: spellings on a file system that ignores
// case, or mounts. An error means that a file on the way cannot be seen.
func (l *Location) knownRoot() (string, error) {
	if filepath.Dir(l.GitDir) != filepath.Join(l.CommonDir, "worktrees") {
		return "", nil
	}
	root, err := linkedRoot(l.GitDir, l.Root)
	switch {
	case regular.Unseen(err):
		return "", err
	case err != nil || root != l.Root && !sameFile(root, l.Root):
		return "", nil //nolint:nilerr // it names another one, or none
	}
	return root, nil
}
