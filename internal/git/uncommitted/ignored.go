package uncommitted

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/git"
)

// Ignored returns the ignored files of a worktree, by their paths in it. A directory that contains only
// ignored files is one entry, which ends in a slash, so that the list stays short after a build. Git compares
// no tracked file for it.
func Ignored(ctx context.Context, repo *git.Repo) ([]string, error) {
	out, err := repo.Program().Run(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--no-empty-directory")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}
