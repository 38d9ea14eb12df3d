// Package checkout lists the worktrees of a git repository, and what is checked out in each.
package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git/discovery"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/git/reftable"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// maxCheckouts is the maximum number of linked worktrees to examine.
	maxCheckouts = 1000
	// maxPointer is the maximum size of a file with the path of a worktree.
	maxPointer = 64 << 10
)

var errTooMany = errors.New("too many worktrees")

// Worktree is one of a repository's worktrees.
type Worktree struct {
	// Name is the last part of Path.
	Name string `json:"name"`
	Path string `json:"path"`
	// Branch is the short name of the branch; empty if Detached, or if git
	// cannot tell.
	Branch string `json:"branch,omitempty"`
	// Head is the hash of the commit; empty if there is none yet, or Bare.
	Head string `json:"head,omitempty"`
	// Detached means that no branch is checked out; Bare, that this is the main repository and has
	// no files.
	Detached bool `json:"detached,omitempty"`
	Bare     bool `json:"bare,omitempty"`
	// Locked means that git does not prune it; Prunable, that git would, usually because the
	// directory no longer exists, or because the .git there does not lead back to this repository,
	// which then may not represent it.
	Locked   bool `json:"locked,omitempty"`
	Prunable bool `json:"prunable,omitempty"`
	// Unseen says why the state of the worktree is unknown: git's files for it, or its directory, exist but
	// cannot be read.
	Unseen error `json:"-"`
	// Operation is the git command that stopped halfway there.
	Operation *operation.Operation `json:"operation,omitempty"`
	// Used is the time when git last wrote its HEAD or its index; zero if Prunable.
	Used time.Time `json:"-"`
}

// Reader lists the worktrees of a repository. It reports only the one at At if the repository is not
// owned by it.
type Reader struct {
	At    *discovery.Location
	Refs  *refstore.Store
	Git   program.Git
	Guard program.Guard
}

// entry is a linked worktree as git's own directory names it.
type entry struct {
	gitDir string // of the worktree
	dotGit string // its .git, which may be gone
}

// entries returns the linked worktrees, as many as are looked at, and whether these are all.
func (r *Reader) entries() (list []entry, all bool, err error) {
	dir := filepath.Join(r.At.CommonDir, "worktrees")
	if err := noLink(dir); err != nil {
		return nil, false, fmt.Errorf("list worktrees: %w", err)
	}
	names, err := regular.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("list worktrees: %w", err)
	}
	for _, e := range names[:min(len(names), maxCheckouts)] {
		gitDir := filepath.Join(dir, e.Name())
		linked := cmp.Or(noLink(gitDir), noLink(filepath.Join(gitDir, "gitdir")))
		text, err := regular.Read(filepath.Join(gitDir, "gitdir"), maxPointer)
		if err = cmp.Or(linked, err); linked != nil || regular.Unseen(err) {
			return nil, false, fmt.Errorf("list worktrees: %w; check the permissions of that file, and do not run `git worktree prune`, which would remove the worktree", err)
		}
		at := filepath.FromSlash(strings.TrimRight(string(text), " \t\r\n"))
		if err != nil || at == "" {
			continue // its creation or removal is in progress
		}
		if !filepath.IsAbs(at) {
			at = filepath.Join(gitDir, at)
		}
		list = append(list, entry{gitDir, at})
	}
	return list, len(names) <= maxCheckouts, nil
}

// noLink returns an error if there is a link at path. Git makes none, and one can lead to another repository.
func noLink(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil //nolint:nilerr // what reads the path reports it
	}
	return &fs.PathError{Op: "open", Path: path, Err: &regular.NotRegularError{Mode: fs.ModeSymlink}}
}

// Linked returns the roots of the linked worktrees that git lists in a common directory, also of those
// that are gone; none without a directory. Where there are very many, or the list cannot be read, it returns some of them.
func Linked(commonDir string) []string {
	if commonDir == "" {
		return nil
	}
	entries, _, _ := (&Reader{At: &discovery.Location{CommonDir: commonDir}}).entries()
	roots := make([]string, len(entries))
	for i, e := range entries {
		roots[i] = filepath.Dir(e.dotGit)
	}
	return roots
}

// GitDirs returns git's directories of the linked worktrees. Where there are very many, it returns
// some of them.
func (r *Reader) GitDirs() ([]string, error) {
	entries, _, err := r.entries()
	dirs := make([]string, len(entries))
	for i, e := range entries {
		dirs[i] = e.gitDir
	}
	return dirs, err
}

// Checkouts returns the worktrees that have a branch checked out, or an operation in
// progress, as Worktrees does, but without Head and Locked. Where there are very many, it
// returns some of them.
func (r *Reader) Checkouts(ctx context.Context) ([]Worktree, error) {
	if reftable.Used(r.At.CommonDir) {
		return r.Worktrees(ctx)
	}
	var list []Worktree
	if r.At.MainRoot != "" {
		list = appendCheckout(list, r.At.MainRoot, r.At.CommonDir, r.At.CommonDir)
	}
	entries, _, err := r.entries()
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		root := filepath.Dir(e.dotGit)
		if gitDir, err := r.At.GitDirOf(root); gitDir == "" && err == nil {
			continue // it no longer exists, or does not lead back here
		}
		list = appendCheckout(list, root, e.gitDir, r.At.CommonDir)
	}
	return r.listed(list), nil
}

// appendCheckout adds the worktree at root, if it has a branch or an operation.
func appendCheckout(list []Worktree, root, gitDir, commonDir string) []Worktree {
	var w Worktree
	w.setPath(root)
	w.Operation = operation.Read(gitDir)
	// Only the name matters here, which does not depend on the length of hashes.
	target, err := refstore.New(gitDir, commonDir, 0).Target("HEAD")
	branch, on := strings.CutPrefix(target, refstore.BranchPrefix)
	switch {
	case err == nil && on:
		w.Branch = branch
	case w.Operation == nil:
		return list
	default:
		w.Detached = true
	}
	return append(list, w)
}

// linked returns the main worktree and the linked ones, the latter by path, as git lists
// them.
func (r *Reader) linked() ([]Worktree, error) {
	entries, all, err := r.entries()
	if err == nil && !all {
		err = errTooMany
	}
	if err != nil {
		return nil, err
	}
	var list []Worktree
	for _, e := range entries {
		w := Worktree{}
		w.setPath(strings.TrimSuffix(e.dotGit, string(filepath.Separator)+".git"))
		_, err := os.Lstat(filepath.Join(e.gitDir, "locked"))
		w.Locked = !regular.Absent(err) // git does not prune what it cannot examine
		_, gone := os.Stat(e.dotGit)
		gitDir, unseen := r.At.GitDirOf(w.Path)
		w.Unseen = unseen
		w.Prunable = regular.Absent(gone) && !w.Locked || gitDir == "" && unseen == nil
		r.checkedOut(&w, e.gitDir)
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Worktree) int { return cmp.Compare(a.Path, b.Path) })
	main := Worktree{}
	main.setPath(r.At.MainRoot)
	r.checkedOut(&main, r.At.CommonDir)
	return append([]Worktree{main}, list...), nil
}

// checkedOut fills in what a worktree has checked out.
func (r *Reader) checkedOut(w *Worktree, gitDir string) {
	if !w.Prunable {
		w.Operation, w.Used = operation.Read(gitDir), used(gitDir)
	}
	own := refstore.New(gitDir, r.At.CommonDir, r.At.Format.HashLen)
	target, err := own.Target("HEAD")
	if regular.Unseen(err) {
		w.Unseen = err
	}
	if err != nil {
		return // git does not say more
	}
	if target == "" {
		if at, err := own.Resolve("HEAD"); err == nil {
			w.Head, w.Detached = at.Hash, at.Hash != ""
		}
		return
	}
	at, _ := r.Refs.Resolve(target) // a broken ref has a name, too
	w.Branch, w.Head = strings.TrimPrefix(at.Name, refstore.BranchPrefix), at.Hash
}
