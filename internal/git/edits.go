package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/git/porcelain"
)

// Edits are all files in the worktree that differ from the commit that is checked out.
type Edits = porcelain.Edits

// Edit is one of them.
type Edit = porcelain.Edit

// Edits returns the files in the worktree that differ from the checked-out commit, according to the
// git program, with each untracked file that is not ignored.
func (r *Repo) Edits(ctx context.Context) (Edits, error) {
	return read(r, func() (Edits, error) {
		if r.Bare() {
			return Edits{}, fmt.Errorf("list edited files: %w", ErrBare)
		}
		out, whole, err := r.program.Compare(ctx, "status", "--porcelain=v2", "--untracked-files=all",
			// Git would run in each submodule, with the submodule's own configuration.
			"--ignore-submodules=dirty", "-z")
		if err != nil {
			return Edits{}, fmt.Errorf("list edited files: %w", err)
		}
		edits, err := porcelain.ParseEdits(out)
		if err != nil {
			return Edits{}, err
		}
		edits.Partial = !whole
		cfg, err := r.config(ctx)
		if err != nil {
			return Edits{}, fmt.Errorf("list edited files: %w", err)
		}
		convert, _ := cfg.Value("core.autocrlf")
		edits.CRLF = strings.EqualFold(convert, "true") || strings.EqualFold(convert, "input")
		return edits, nil
	})
}
