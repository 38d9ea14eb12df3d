package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/regular"
)

// maxSiblings is the number of entries of a directory to search for other repositories.
const maxSiblings = 4096

// SharedRoot returns the directory for files that all worktrees share. It is the root of the main
// worktree; in a repository without one, or whose git directory is separate from it (".bare", "git
// init --separate-git-dir"), it is the directory that contains git's own.
//
// It is "" if that directory belongs to others as well: if it is a worktree of another repository,
// or contains the git directory of another one.
func (r *Repo) SharedRoot() string { return r.sharedRoot }

func (r *Repo) findSharedRoot(dotGit string) string {
	usual := filepath.Base(r.commonDir) == ".git"
	switch {
	case r.gitDir != r.commonDir && r.mainRoot != "":
		return r.mainRoot
	case r.gitDir != r.commonDir && (usual || !r.knowsThis()):
		return ""
	case r.gitDir == r.commonDir && r.root != "" && (usual || r.named || r.root != dotGit):
		return r.root
	case slices.Contains(strings.Split(filepath.ToSlash(r.commonDir), "/"), ".git"):
		return r.mainRoot // a submodule
	}
	dir := filepath.Dir(r.commonDir)
	if !r.alone(dir) {
		return r.mainRoot
	}
	return dir
}

// alone reports whether a directory belongs to no other repository.
func (r *Repo) alone(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
		return r.gitDirOf(dir) != ""
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
		if e.IsDir() && path != r.commonDir && checkGitDir(path) == nil {
			return false
		}
	}
	return true
}

// knowsThis reports whether the main repository knows this linked worktree.
func (r *Repo) knowsThis() bool {
	if filepath.Dir(r.gitDir) != filepath.Join(r.commonDir, "worktrees") {
		return false
	}
	root, err := linkedRoot(r.gitDir)
	return err == nil && root == r.root
}
