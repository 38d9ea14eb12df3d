package stack

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/session"
)

// Worktree is a worktree. Branch is "(detached HEAD)" where none is checked out, and
// "(bare)" for a main repository without files, as git words it.
type Worktree struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	Branch string `json:"branch"`
	// Commit is the hash of the checked-out commit where no branch is.
	Commit string `json:"commit,omitempty"`
	// Missing means that the directory is gone, or is not a worktree of this repository.
	Missing bool `json:"missing,omitempty"`
	// Unseen says why the state of the worktree is unknown.
	Unseen error `json:"-"`
	// Locked means that somebody locked it with "git worktree lock".
	Locked bool `json:"locked,omitempty"`
	// Operation is the git command that stopped halfway there. While it rebases or
	// bisects, Branch is the branch that it is about.
	Operation *operation.Operation `json:"operation,omitempty"`
}

// What Branch says where no branch is checked out.
const (
	bareLabel     = "(bare)"
	detachedLabel = "(detached HEAD)"
)

// OnBranch reports whether Branch is the name of a branch.
func (w Worktree) OnBranch() bool { return w.Branch != detachedLabel && w.Branch != bareLabel }

// Label returns Branch, with the abbreviated commit where no branch is checked out.
func (w Worktree) Label() string {
	if w.OnBranch() || w.Commit == "" {
		return w.Branch
	}
	return w.Branch + " at " + w.Commit[:min(len(w.Commit), 8)]
}

// Worktrees returns the worktrees that git has, the main one first, then those that only
// the state names. What both know is one worktree, by its real path: git says which
// branch it has, the state what it is called.
func (b *Branches) Worktrees(ctx context.Context) ([]Worktree, error) {
	v := b.session.View()
	state, err := v.State(ctx)
	if errors.Is(err, twig.ErrNoState) {
		state, err = &twig.State{}, nil
	}
	if err != nil {
		return nil, err
	}
	repo, err := v.Repo(ctx)
	if err != nil {
		return nil, err
	}
	listed, err := repo.Worktrees(ctx)
	if err != nil {
		return nil, session.Explain(err)
	}
	all := make([]Worktree, 0, len(listed)+len(state.Worktrees))
	at := make(map[string]int, len(listed)) // by real path
	for _, w := range listed {
		at[real(w.Path)] = len(all)
		all = append(all, worktree(w))
	}
	for _, w := range state.Worktrees {
		if i, known := at[real(w.Path)]; known {
			all[i].Name = cmp.Or(w.Name, all[i].Name)
			continue
		}
		all = append(all, Worktree{Name: w.Name, Path: w.Path, Branch: w.Branch, Missing: true})
	}
	return all, nil
}

func worktree(w git.Worktree) Worktree {
	out := Worktree{Name: w.Name, Path: w.Path, Branch: w.Branch, Missing: w.Prunable, Unseen: w.Unseen, Locked: w.Locked, Operation: w.Operation}
	if w.Detached {
		out.Commit = w.Head
	}
	switch {
	case w.Bare:
		out.Branch = bareLabel
	case w.Detached && w.Operation != nil && w.Operation.Branch != "":
		out.Branch = w.Operation.Branch
	case w.Detached:
		out.Branch = detachedLabel
	}
	return out
}

// real returns a path with symbolic links resolved; one that is gone has its parent's
// resolved.
func real(path string) string {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(dir, filepath.Base(path))
	}
	return filepath.Clean(path)
}
