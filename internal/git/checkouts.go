package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// maxCheckouts is how many linked worktrees are looked at.
	maxCheckouts = 1000
	// maxPointer is the size of the largest file that says where a worktree is.
	maxPointer = 64 << 10
)

// Checkouts returns the worktrees that have a branch checked out, or an operation in
// progress, as Worktrees does, but without Head and Locked and, where git keeps its refs in
// files, without running git.
func (r *Repo) Checkouts(ctx context.Context) ([]Worktree, error) {
	if r.usesTable() {
		return r.Worktrees(ctx)
	}
	return read(r, func() ([]Worktree, error) {
		var list []Worktree
		if r.mainRoot != "" {
			list = appendCheckout(list, r.mainRoot, r.commonDir, r.commonDir)
		}
		dir := filepath.Join(r.commonDir, "worktrees")
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list worktrees: %w", err)
		}
		for _, e := range entries[:min(len(entries), maxCheckouts)] {
			gitDir := filepath.Join(dir, e.Name())
			text, err := regular.Read(filepath.Join(gitDir, "gitdir"), maxPointer)
			if err != nil {
				continue // it is being made or removed
			}
			at := filepath.FromSlash(strings.TrimRight(string(text), "\r\n"))
			if !filepath.IsAbs(at) {
				at = filepath.Join(gitDir, at)
			}
			root := filepath.Dir(at)
			if r.gitDirOf(root) == "" {
				continue // it is gone, or does not lead back here
			}
			list = appendCheckout(list, root, gitDir, r.commonDir)
		}
		return list, nil
	})
}

// appendCheckout adds the worktree at root, if something is worked on there.
func appendCheckout(list []Worktree, root, gitDir, commonDir string) []Worktree {
	var w Worktree
	w.setPath(root)
	w.Operation = operation.Read(gitDir)
	// Only the name counts here, which every length of hashes has.
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
