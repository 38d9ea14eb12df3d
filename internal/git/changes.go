package git

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/git/porcelain"
)

// Change is a file that differs between commit, index and worktree.
type Change = porcelain.Change

// Changes returns Status with the files that it counts: conflicted files first, then those modified
// in the worktree, then staged, then untracked ones, each by path.
func (r *Repo) Changes(ctx context.Context) (Status, []Change, error) {
	type answer struct {
		status  Status
		changes []Change
	}
	a, err := read(r, func() (a answer, err error) {
		out, status, err := r.status(ctx)
		if err != nil {
			return a, err
		}
		a.status = status
		a.changes, err = porcelain.ParseChanges(out)
		return a, err
	})
	return a.status, a.changes, err
}

// LineCount is how many lines of a file were added and removed.
type LineCount = porcelain.LineCount

// DiffStat returns by path how tracked files in the worktree differ from the checked-out commit.
// Git looks at the files among paths, or at all tracked files when there are no paths.
func (r *Repo) DiffStat(ctx context.Context, paths ...string) (map[string]LineCount, error) {
	return read(r, func() (map[string]LineCount, error) {
		if r.Bare() {
			return nil, fmt.Errorf("compare files: %w", ErrBare)
		}
		head, err := r.Refs().Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("compare files: %w", err)
		}
		base := "HEAD"
		if head.Unborn {
			base = "--cached" // with nothing
		}
		args := []string{
			"diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", base, "--",
		}
		for _, path := range paths {
			args = append(args, ":(top,literal)"+path)
		}
		out, err := r.program.Run(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("compare files: %w", err)
		}
		return porcelain.ParseNumstat(out), nil
	})
}

// DiffBranch returns by path what a branch changes compared with the point where it left another
// one. Both are names of local branches.
func (r *Repo) DiffBranch(ctx context.Context, branch, base string) (map[string]LineCount, error) {
	return read(r, func() (map[string]LineCount, error) {
		const heads = "refs/heads/"
		out, err := r.program.Run(ctx, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
			"--ignore-submodules=dirty", heads+base+"..."+heads+branch, "--")
		if err != nil {
			return nil, fmt.Errorf("compare %q with %q: %w", branch, base, err)
		}
		return porcelain.ParseNumstat(out), nil
	})
}
