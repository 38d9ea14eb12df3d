// Package registry finds the registries of prompt commands for an environment, and
// what executes their commands.
package registry

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/command/library"
	"github.com/copse-dev/copse/internal/command/runner"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/xec"
)

// Workspace is the root of the git worktree that the folder dir is in, the folder
// itself outside of git; of the working folder if dir is "".
func Workspace(ctx context.Context, env app.Env, dir string) string {
	dir = cmp.Or(dir, env.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	if repo, err := git.Discover(ctx, dir, git.Options{Env: env.Environ}); err == nil && repo.Root() != "" {
		return repo.Root()
	}
	return dir
}

// Open returns the library and the runner of the workspace that dir is in. Nothing
// is read of them yet.
func Open(ctx context.Context, env app.Env, dir string) (*library.Library, *runner.Runner) {
	workspace := Workspace(ctx, env, dir)
	return library.New(workspace, env.Home()), runner.New(workspace, env.Home(), xec.Env(env.Environ))
}
