package git

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/git/porcelain"
)

// Status is how a worktree differs from its commit, and the branch from its upstream.
type Status = porcelain.Status

// Status runs the git program to compare the worktree. It takes as long as "git status"; limit it
// by ctx. A bare repository is [ErrBare].
func (r *Repo) Status(ctx context.Context) (Status, error) {
	return read(r, func() (Status, error) {
		_, status, err := r.status(ctx)
		return status, err
	})
}

func (r *Repo) status(ctx context.Context) (out []byte, s Status, err error) {
	if r.Bare() {
		return nil, s, fmt.Errorf("read status: %w", ErrBare)
	}
	out, whole, err := r.program.Compare(ctx, "status", "--porcelain=v2", "--branch", "--ahead-behind", "--untracked-files=normal",
		// Git would run in each submodule, with the submodule's own configuration.
		"--ignore-submodules=dirty", "-z")
	if err != nil {
		return nil, s, fmt.Errorf("read status: %w", err)
	}
	s, err = porcelain.ParseStatus(out)
	s.Partial = !whole
	return out, s, err
}
