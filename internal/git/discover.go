package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/copse-dev/copse/internal/xec"
)

// Options is what a Repo must know of its surroundings.
type Options struct {
	// Env is the complete environment: it says where configuration is
	// (HOME, XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, ...), where the search for a
	// repository ends (GIT_CEILING_DIRECTORIES), where the git program is
	// (PATH), and is what that program sees.
	Env xec.Env
}

// Discover finds the repository that the folder start, an absolute path,
// belongs to: start itself or the nearest folder above that has one. Start may
// lie inside the .git folder. Symbolic links in start are resolved first.
//
// If there is none the error is [ErrNotRepository]; if there is one that
// cannot be used, a [*BrokenError]. Unlike git, Discover does not ask who owns
// the repository, as it runs nothing that the repository names, and does not
// stop at mount points.
func Discover(ctx context.Context, start string, opts Options) (*Repo, error) {
	if !filepath.IsAbs(start) {
		return nil, fmt.Errorf("find git repository: %q is not an absolute path", start)
	}
	resolved, err := filepath.EvalSymlinks(start)
	if err != nil {
		return nil, fmt.Errorf("find git repository from %q: %w: %w", start, ErrNotRepository, err)
	}
	border := ceiling(resolved, opts.Env.Get("GIT_CEILING_DIRECTORIES"))
	var damaged error // the first folder that nearly is a repository
	for dir := resolved; ; dir = filepath.Dir(dir) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("find git repository from %q: %w", start, err)
		}
		found, err := probe(dir)
		if err != nil {
			return nil, err
		}
		if found.gitDir != "" {
			return open(found, start, opts)
		}
		if damaged == nil {
			damaged = found.damaged
		}
		if parent := filepath.Dir(dir); parent == dir || parent == border {
			break
		}
	}
	if damaged != nil {
		return nil, damaged
	}
	return nil, fmt.Errorf("find git repository from %q: %w", start, ErrNotRepository)
}

// ceiling returns the folder above start that must not be looked into: the
// nearest of those in the list. Symbolic links in the list are resolved up to
// its first empty entry. The list says nothing about start itself.
func ceiling(start, list string) string {
	nearest := ""
	resolve := true
	for _, dir := range filepath.SplitList(list) {
		if dir == "" {
			resolve = false
			continue
		}
		if !filepath.IsAbs(dir) {
			continue
		}
		dir = filepath.Clean(dir)
		if resolve {
			if real, err := filepath.EvalSymlinks(dir); err == nil {
				dir = real
			}
		}
		if len(dir) > len(nearest) && dir != start && contains(dir, start) {
			nearest = dir
		}
	}
	return nearest
}

// contains tells whether path is dir or below it. Both are clean.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// finding is what there is in one folder.
type finding struct {
	gitDir string // empty if there is no repository
	// dotGit is the folder whose .git leads to gitDir; empty if the folder
	// itself is one such as git keeps in .git.
	dotGit  string
	damaged error
}

// probe looks for a repository in exactly one folder.
func probe(dir string) (finding, error) {
	dotGit := filepath.Join(dir, ".git")
	fi, err := os.Stat(dotGit)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return finding{}, unreadable(dotGit, err)
	case err != nil:
	case fi.Mode().IsRegular():
		gitDir, err := followGitfile(dotGit)
		return finding{gitDir: gitDir, dotGit: dir}, err
	case fi.IsDir():
		if err = checkGitDir(dotGit); err == nil {
			real, err := filepath.EvalSymlinks(dotGit)
			return finding{gitDir: real, dotGit: dir}, err
		}
		if errors.Is(err, fs.ErrPermission) {
			return finding{}, unreadable(dotGit, err)
		}
	}
	if checkGitDir(dir) == nil {
		return finding{gitDir: dir}, nil
	}
	if errors.Is(err, errBadHead) {
		return finding{damaged: &BrokenError{
			Path: filepath.Join(dotGit, "HEAD"), Problem: "is empty or damaged",
			Remedy: "put the current branch into it, as in: echo 'ref: refs/heads/main' > .git/HEAD",
		}}, nil
	}
	return finding{}, nil
}

func unreadable(path string, err error) error {
	return &BrokenError{
		Path: path, Problem: "cannot be read", Err: err,
		Remedy: "check the permissions of the folder and of those above it",
	}
}

var (
	errNoGitDir = errors.New("not the folder of a git repository")
	errBadHead  = errors.New("HEAD is damaged")
)

// checkGitDir tells whether dir has what makes the folder of a repository: a
// sound HEAD and, maybe elsewhere, objects and refs.
func checkGitDir(dir string) error {
	head := filepath.Join(dir, "HEAD")
	fi, err := os.Lstat(head)
	if err != nil {
		return err
	}
	common, err := commonDir(dir)
	if err != nil {
		return err
	}
	for _, name := range []string{"objects", "refs"} {
		if _, err := os.Stat(filepath.Join(common, name)); err != nil {
			return err
		}
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(head)
		if err == nil && !strings.HasPrefix(filepath.ToSlash(target), "refs/") {
			err = errBadHead
		}
		return err
	}
	if !fi.Mode().IsRegular() {
		return errNoGitDir
	}
	text, err := os.ReadFile(head)
	if err == nil && !soundHead(string(text)) {
		err = errBadHead
	}
	return err
}

// soundHead tells whether the text of a HEAD file is the name of a ref or
// begins with a hash.
func soundHead(text string) bool {
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(name, " \t\n\r"), "refs/")
	}
	const sha1Digits = 40
	return len(text) >= sha1Digits && strings.Trim(text[:sha1Digits], "0123456789abcdefABCDEF") == ""
}

// commonDir returns the folder with what all worktrees of a repository share:
// gitDir itself in the main worktree.
func commonDir(gitDir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return gitDir, nil
	}
	if err != nil {
		return "", err
	}
	path := filepath.FromSlash(strings.TrimRight(string(text), "\r\n"))
	if !filepath.IsAbs(path) {
		path = filepath.Join(gitDir, path)
	}
	return path, nil
}
