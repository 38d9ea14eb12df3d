package git

import (
	"context"

	"github.com/copse-dev/copse/internal/git/checkout"
)

// Worktree is one of a repository's worktrees.
type Worktree = checkout.Worktree

// Worktrees returns all worktrees as git lists them: the main one, or the bare repository, first.
// Git is started only where it keeps refs in tables, where there is no main worktree, and where
// there are more worktrees than are looked at here.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	return read(r, func() ([]Worktree, error) { return r.checkouts.Worktrees(ctx) })
}

// Checkouts returns the worktrees that have a branch checked out, or an operation in progress, as
// Worktrees does, but without Head and Locked. Where there are very many, it returns some of them.
func (r *Repo) Checkouts(ctx context.Context) ([]Worktree, error) {
	return read(r, func() ([]Worktree, error) { return r.checkouts.Checkouts(ctx) })
}
