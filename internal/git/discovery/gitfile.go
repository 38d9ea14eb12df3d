package discovery

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitlink"
	"github.com/copse-dev/copse/internal/regular"
)

// followGitfile returns the target directory of the .git file at path.
func followGitfile(path string) (string, error) {
	text, err := regular.Read(path, gitlink.MaxGitFile)
	if err != nil {
		return "", Unreadable(path, err)
	}
	target, ok := gitlink.Parse(string(text))
	if !ok {
		return "", &BrokenError{
			Path: path, Problem: `is a file that does not contain "gitdir: <path>"`,
			Remedy: "restore it or, if it is not git's, rename it",
		}
	}
	gitDir, err := gitlink.Follow(path, filepath.Dir(path), target, path)
	target = gitlink.From(filepath.Dir(path), target)
	if err == nil {
		err = checkGitDir(gitDir)
	}
	if IsSpecial(err) {
		return "", Unreadable(gitDir, err)
	}
	if errors.Is(err, errBadHead) {
		return "", badHead(gitDir)
	}
	if err != nil {
		return "", deadEnd(path, filepath.Clean(target), err)
	}
	return gitDir, nil
}

// deadEnd returns the remedy for a .git file that leads to no repository.
func deadEnd(path, target string, err error) error {
	if fi, statErr := os.Lstat(path); statErr != nil || !fi.Mode().IsRegular() {
		// The creator of the link chose the target, so the error shows nothing of it.
		return &BrokenError{
			Path: path, Problem: "is a symbolic link to a file that does not point to a git repository",
			Remedy: "remove the link, or clone the repository again",
		}
	}
	if regular.Unseen(err) {
		return Unreadable(target, err)
	}
	broken := &BrokenError{
		Path: path, Problem: fmt.Sprintf("points to %q, which has no git repository", target), Err: err,
		Remedy: "correct the path in it, or clone the repository again",
	}
	worktrees, name := filepath.Split(target)
	if main, ok := strings.CutSuffix(filepath.Clean(worktrees), string(filepath.Separator)+"worktrees"); ok {
		broken.Problem = "belongs to a linked worktree, and the main repository is no longer at " + main
		broken.Remedy = "if the main repository was moved, run `git worktree repair` in it, wherever it is now"
		if checkGitDir(main) == nil {
			broken.Problem = "belongs to a linked worktree that the main repository at " + main + " does not know"
			broken.Remedy = "run `git worktree list` there; if " + name + " is missing (git prunes worktrees it cannot find), " +
				"create it again with `git worktree add`"
		}
	}
	return broken
}

// SubmoduleDir returns the target of the .git in a submodule at dir, sound or not; "" if it leads
// nowhere. It is an error if that is on another machine, or depends on the process.
func SubmoduleDir(dir string) (string, error) {
	gitDir, err := gitlink.GitDir(dir)
	if err != nil {
		return "", Unreadable(filepath.Join(dir, ".git"), err)
	}
	return gitDir, nil
}
