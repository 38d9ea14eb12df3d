package git

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

	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// maxCheckouts is the maximum number of linked worktrees to examine.
	maxCheckouts = 1000
	// maxPointer is the maximum size of a file with the path of a worktree.
	maxPointer = 64 << 10
)

var errTooMany = errors.New("too many worktrees")

// entry is a linked worktree as git's own directory names it.
type entry struct {
	gitDir string // of the worktree
	dotGit string // its .git, which may be gone
}

// entries returns the linked worktrees, as many as are looked at, and whether these are all.
func (r *Repo) entries() (list []entry, all bool, err error) {
	dir := filepath.Join(r.at.CommonDir, "worktrees")
	names, err := regular.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("list worktrees: %w", err)
	}
	for _, e := range names[:min(len(names), maxCheckouts)] {
		gitDir := filepath.Join(dir, e.Name())
		text, err := regular.Read(filepath.Join(gitDir, "gitdir"), maxPointer)
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

// Checkouts returns the worktrees that have a branch checked out, or an operation in
// progress, as Worktrees does, but without Head and Locked. Where there are very many, it
// returns some of them.
func (r *Repo) Checkouts(ctx context.Context) ([]Worktree, error) {
	if r.usesTable() {
		return r.Worktrees(ctx)
	}
	return read(r, func() ([]Worktree, error) {
		var list []Worktree
		if r.at.MainRoot != "" {
			list = appendCheckout(list, r.at.MainRoot, r.at.CommonDir, r.at.CommonDir)
		}
		entries, _, err := r.entries()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			root := filepath.Dir(e.dotGit)
			if r.at.GitDirOf(root) == "" {
				continue // it no longer exists, or does not lead back here
			}
			list = appendCheckout(list, root, e.gitDir, r.at.CommonDir)
		}
		return r.listed(list), nil
	})
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
func (r *Repo) linked() ([]Worktree, error) {
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
		w.Locked = err == nil
		if _, err := os.Stat(e.dotGit); err != nil && !w.Locked || r.at.GitDirOf(w.Path) == "" {
			w.Prunable = true
		}
		r.checkedOut(&w, e.gitDir)
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b Worktree) int { return cmp.Compare(a.Path, b.Path) })
	main := Worktree{}
	main.setPath(r.at.MainRoot)
	r.checkedOut(&main, r.at.CommonDir)
	return append([]Worktree{main}, list...), nil
}

// checkedOut fills in what a worktree has checked out.
func (r *Repo) checkedOut(w *Worktree, gitDir string) {
	if !w.Prunable {
		w.Operation, w.Used = operation.Read(gitDir), used(gitDir)
	}
	own := refstore.New(gitDir, r.at.CommonDir, r.at.Format.HashLen)
	target, err := own.Target("HEAD")
	if err != nil {
		return // git does not say more
	}
	if target == "" {
		if at, err := own.Resolve("HEAD"); err == nil {
			w.Head, w.Detached = at.Hash, at.Hash != ""
		}
		return
	}
	at, _ := r.files.Resolve(target) // a broken ref has a name, too
	w.Branch, w.Head = strings.TrimPrefix(at.Name, refstore.BranchPrefix), at.Hash
}
