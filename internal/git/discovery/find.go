// Package discovery finds the repository of a directory, and refuses one that is not what it seems.
//
// Anybody can put files into an archive, or a directory above yours. On the way up, the search
// accepts only a .git; a bare repository only if the user named it; another worktree only if its
// own .git points back; and a repository of another account only if the user's configuration lists
// it as safe.
package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitlink"

	"github.com/copse-dev/copse/internal/git/elsewhere"
	"github.com/copse-dev/copse/internal/git/hazard"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// Options describe a search.
type Options struct {
	// Env is the complete environment. It locates the user's configuration and the end of the search.
	Env xec.Env
	// Named means that the user named the directory to start from, rather than being in it. Only
	// then may that directory itself be a bare repository.
	Named bool
}

// Find finds the repository of the directory start, an absolute path, as [git.Discover] describes
// it.
//
// [git.Discover]: https://pkg.go.dev/github.com/copse-dev/copse/internal/git#Discover
func Find(ctx context.Context, start string, opts Options) (*Location, error) {
	if !filepath.IsAbs(start) {
		return nil, fmt.Errorf("find git repository: %q is not an absolute path", start)
	}
	resolved, err := filepath.EvalSymlinks(start)
	if err != nil {
		return nil, &OutsideError{Dir: start, Unreadable: err}
	}
	border := ceiling(resolved, opts.Env.Get("GIT_CEILING_DIRECTORIES"))
	var damaged error // the first directory that is almost a repository
	for dir := resolved; ; dir = filepath.Dir(dir) {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("find git repository from %q: %w", start, err)
		}
		found, err := probe(dir)
		if err == nil && found.gitDir == "" && opts.Named && dir == resolved {
			found, err = probeBare(dir, found)
		}
		if err != nil {
			return nil, err
		}
		if found.gitDir != "" {
			return locate(found, start, opts.Env)
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
	if !opts.Named && checkGitDir(resolved) == nil {
		return nil, &UnnamedError{Dir: resolved}
	}
	return nil, &OutsideError{Dir: start}
}

// ceiling returns the directory above start that the search must not enter: the nearest of those in
// the list. Symbolic links in the list are resolved up to its first empty entry. The list does not
// apply to start itself.
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

// contains reports whether path is dir or below it. Both are clean.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// finding is the content of one directory.
type finding struct {
	gitDir string // empty if there is no repository
	// dotGit is the directory whose .git leads to gitDir; empty if the directory itself has the
	// form of a .git directory.
	dotGit  string
	damaged error
}

// probe looks for a .git in exactly one directory.
func probe(dir string) (finding, error) {
	dotGit := filepath.Join(dir, ".git")
	fi, err := os.Lstat(dotGit)
	if err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		if err := elsewhere.Leads(dotGit, dotGit); err != nil {
			return finding{}, Unreadable(dotGit, err)
		}
		fi, err = os.Stat(dotGit)
	}
	switch {
	case regular.Unseen(err):
		return finding{}, Unreadable(dotGit, err)
	case err != nil:
	case fi.Mode().IsRegular():
		gitDir, err := followGitfile(dotGit)
		return finding{gitDir: gitDir, dotGit: dir}, err
	case fi.IsDir():
		err = checkGitDir(dotGit)
		switch {
		case err == nil:
			real, err := elsewhere.Resolve(dotGit, dotGit)
			return finding{gitDir: real, dotGit: dir}, err
		case regular.Unseen(err), IsSpecial(err):
			return finding{}, Unreadable(dotGit, err)
		case errors.Is(err, errBadHead):
			return finding{damaged: badHead(dotGit)}, nil
		}
	default:
		return finding{}, Unreadable(dotGit, &fs.PathError{Op: "open", Path: dotGit, Err: regular.Check(fi, 0)})
	}
	return finding{}, nil //nolint:nilerr // no .git, or one that leads nowhere, is no repository
}

// probeBare checks whether dir itself is a repository; otherwise is the result if it is not.
func probeBare(dir string, otherwise finding) (finding, error) {
	err := checkGitDir(dir)
	switch {
	case err == nil:
		return finding{gitDir: dir}, nil
	case regular.Unseen(err), IsSpecial(err):
		return finding{}, Unreadable(dir, err)
	}
	return otherwise, nil
}

// pointsTo reports whether the .git of dir is the directory gitDir, or leads there. Somebody who can
// write to dir has then agreed that it is the worktree of that repository. An error means that
// a file on the way cannot be seen; a damaged .git does not lead there.
func pointsTo(dir, gitDir string) (bool, error) {
	found, err := probe(dir)
	if regular.Unseen(err) {
		return false, err
	}
	return err == nil && found.gitDir == gitDir, nil
}

// IsSpecial reports whether a file is unreadable because of its type, or leads elsewhere.
func IsSpecial(err error) bool {
	_, special := errors.AsType[*regular.NotRegularError](err)
	_, large := errors.AsType[*regular.TooLargeError](err)
	_, away := errors.AsType[*elsewhere.Error](err)
	return special || large || away
}

// Unreadable returns the error of a file at path, or of the one that err names.
func Unreadable(path string, err error) error {
	if named, ok := errors.AsType[*fs.PathError](err); ok {
		path, err = named.Path, named.Err
	}
	if away, ok := errors.AsType[*elsewhere.Error](err); ok {
		return &BrokenError{
			Path: path, Problem: away.Error(),
			Remedy: away.Remedy(),
		}
	}
	if IsSpecial(err) {
		return &BrokenError{Path: path, Problem: err.Error(), Remedy: "remove it, or restore git's file there"}
	}
	if content, ok := errors.AsType[*hazard.ContentError](err); ok {
		return &BrokenError{Path: path, Problem: content.Problem, Remedy: content.Remedy}
	}
	remedy := "check the permissions of the directory and of those above it"
	if !errors.Is(err, fs.ErrPermission) {
		remedy = "check the link if it is one, or the disk or network that it is on"
	}
	return &BrokenError{Path: path, Problem: "cannot be read", Err: err, Remedy: remedy}
}

var (
	errNoGitDir = errors.New("not the directory of a git repository")
	errBadHead  = errors.New("it names no ref and no commit")
)

// checkGitDir reports whether dir has the content of a repository's directory: a sound HEAD and,
// possibly elsewhere, objects and refs. It requires at least as much as git does, which would
// otherwise continue to search upward.
func checkGitDir(dir string) error {
	head := filepath.Join(dir, "HEAD")
	fi, err := os.Lstat(head)
	if err != nil {
		return err
	}
	common, err := gitlink.CommonDir(dir)
	if err != nil {
		return err
	}
	for _, name := range []string{"objects", "refs"} {
		// The dot asks for a directory that may be searched.
		path := filepath.Join(common, name)
		if _, err := os.Stat(path + string(filepath.Separator) + "."); err != nil {
			return cmp.Or(elsewhere.Link(path), err)
		}
	}
	if fi.Mode()&fs.ModeSymlink != 0 {
		target, err := os.Readlink(head)
		if err == nil && !strings.HasPrefix(filepath.ToSlash(target), "refs/") {
			err = errBadHead
		}
		return err
	}
	if fi.IsDir() {
		return errNoGitDir
	}
	text, err := regular.Read(head, gitlink.MaxFile)
	if err == nil && !soundHead(string(text)) {
		err = errBadHead
	}
	return err
}

// badHead returns the error of a git directory whose HEAD is damaged.
func badHead(gitDir string) error {
	return &BrokenError{
		Path: filepath.Join(gitDir, "HEAD"), Problem: "is empty or damaged", Err: errBadHead,
		Remedy: "write the current branch to it: one line, such as `ref: refs/heads/main`",
	}
}

// soundHead reports whether the text of a HEAD file is the name of a ref or begins with a hash.
func soundHead(text string) bool {
	if name, ok := strings.CutPrefix(text, "ref:"); ok {
		return strings.HasPrefix(strings.TrimLeft(name, " \t\n\r"), "refs/")
	}
	const sha1Digits = 40
	return len(text) >= sha1Digits && strings.Trim(text[:sha1Digits], "0123456789abcdefABCDEF") == ""
}
