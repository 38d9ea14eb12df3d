package git

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
	"github.com/copse-dev/copse/internal/xec"
)

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
	// Operation is the git command that stopped halfway there.
	Operation *operation.Operation `json:"operation,omitempty"`
	// Used is the time when git last wrote its HEAD or its index; zero if Prunable.
	Used time.Time `json:"-"`
}

// Worktrees returns all worktrees as git lists them: the main one, or the bare
// repository, first. Git is started only where it keeps refs in tables, where there is no
// main worktree, and where there are more worktrees than are looked at here.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	return read(r, func() ([]Worktree, error) {
		if !r.usesTable() && r.at.MainRoot != "" {
			// What git would not be given to read is not read here, either.
			if _, err := r.guard.Settings(ctx); err != nil {
				return nil, err
			}
			list, err := r.linked()
			if !errors.Is(err, errTooMany) {
				return r.listed(list), err
			}
		}
		list, err := r.askWorktrees(ctx)
		return r.listed(list), err
	})
}

// listed returns the worktrees that the repository shows to this one.
func (r *Repo) listed(list []Worktree) []Worktree {
	if r.at.Owned {
		return list
	}
	return slices.DeleteFunc(list, func(w Worktree) bool { return !w.Bare && w.Path != r.at.Root })
}

// askWorktrees asks the git program.
func (r *Repo) askWorktrees(ctx context.Context) ([]Worktree, error) {
	const usageError = 129
	separator := "\x00"
	out, err := r.program.Run(ctx, "worktree", "list", "--porcelain", "-z")
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == usageError {
		separator = "\n" // before git 2.36
		out, err = r.program.Run(ctx, "worktree", "list", "--porcelain")
	}
	if err != nil {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	list := parseWorktrees(out, separator)
	if len(list) > 0 && !list[0].Bare && r.at.MainRoot != "" {
		// Git does not read core.worktree, which submodules have.
		list[0].setPath(r.at.MainRoot)
	}
	for i := range list {
		w := &list[i]
		gitDir := r.at.CommonDir
		if i > 0 {
			if w.Prunable {
				continue
			}
			if gitDir = r.at.GitDirOf(w.Path); gitDir == "" {
				w.Prunable = true
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

// parseWorktrees reads the attributes of worktrees, one per line, with an empty line after each
// worktree.
func parseWorktrees(out []byte, separator string) []Worktree {
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
