package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/git/reftable"
	"github.com/copse-dev/copse/internal/xec"
)

// Worktrees returns all worktrees as git lists them: the main one, or the bare
// repository, first. Git is started only where it keeps refs in tables, where there is no
// main worktree, and where there are more worktrees than are looked at here.
func (r *Reader) Worktrees(ctx context.Context) ([]Worktree, error) {
	if !reftable.Used(r.At.CommonDir) && r.At.MainRoot != "" {
		// What git would not be given to read is not read here, either.
		if _, err := r.Guard.Settings(ctx); err != nil {
			return nil, err
		}
		list, err := r.linked()
		if !errors.Is(err, errTooMany) {
			return r.listed(list), err
		}
	}
	list, err := r.askGit(ctx)
	return r.listed(list), err
}

// listed returns the worktrees that the repository shows to this one.
func (r *Reader) listed(list []Worktree) []Worktree {
	if r.At.Owned {
		return list
	}
	return slices.DeleteFunc(list, func(w Worktree) bool { return !w.Bare && w.Path != r.At.Root })
}

// askGit asks the git program.
func (r *Reader) askGit(ctx context.Context) ([]Worktree, error) {
	const usageError = 129
	separator := "\x00"
	if _, _, err := r.entries(); err != nil {
		return nil, err // git passes over what it cannot read
	}
	out, err := r.Git.Run(ctx, "worktree", "list", "--porcelain", "-z")
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == usageError {
		separator = "\n" // before git 2.36
		out, err = r.Git.Run(ctx, "worktree", "list", "--porcelain")
	}
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	list := parse(out, separator)
	if len(list) > 0 && !list[0].Bare && r.At.MainRoot != "" {
		// Git does not read core.worktree, which submodules have.
		list[0].setPath(r.At.MainRoot)
	}
	for i := range list {
		w := &list[i]
		gitDir := r.At.CommonDir
		if i > 0 {
			gitDir, w.Unseen = r.At.GitDirOf(w.Path)
			w.Prunable = w.Unseen == nil && (w.Prunable || gitDir == "")
			if w.Prunable || w.Unseen != nil {
				continue
			}
		}
		if !w.Bare {
			w.Operation = operation.Read(gitDir)
		}
		w.Used = used(gitDir)
	}
	return list, nil
}

// used returns the time when git last wrote the HEAD or the index of a worktree.
func used(gitDir string) time.Time {
	var last time.Time
	for _, name := range []string{"HEAD", "index"} {
		if info, err := os.Lstat(filepath.Join(gitDir, name)); err == nil && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}

// parse reads the attributes of worktrees, one per line, with an empty line after each
// worktree.
func parse(out []byte, separator string) []Worktree {
	var list []Worktree
	for line := range bytes.SplitSeq(out, []byte(separator)) {
		name, value, _ := strings.Cut(string(line), " ")
		if name == "worktree" {
			list = append(list, Worktree{})
		}
		if len(list) == 0 {
			continue
		}
		w := &list[len(list)-1]
		switch name {
		case "worktree":
			w.setPath(filepath.FromSlash(value))
		case "HEAD":
			if strings.Trim(value, "0") != "" {
				w.Head = value
			}
		case "branch":
			w.Branch = strings.TrimPrefix(value, refstore.BranchPrefix)
		case "detached":
			w.Detached = true
		case "bare":
			w.Bare = true
		case "locked":
			w.Locked = true
		case "prunable":
			w.Prunable = true
		}
	}
	return list
}

func (w *Worktree) setPath(path string) {
	w.Path, w.Name = path, filepath.Base(path)
}
