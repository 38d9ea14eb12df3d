// Package itemstore finds the store of work items for an environment. It is
// apart from package wiring because the store writes, and the read-only program
// must not link it.
package itemstore

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item/local"
)

// Open returns the store of the folder dir, of the working folder if it is "":
// the .tic folder in it or above, up to the root of its git worktree, else that
// of the main worktree. None of them need exist. Close it after use.
func Open(ctx context.Context, env app.Env, dir string) *local.Store {
	dir = cmp.Or(dir, env.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	place := local.Place{Dir: dir}
	// A repository that cannot be used is as good as none for where items are.
	if repo, err := git.Discover(ctx, dir, git.Options{Env: env.Environ}); err == nil {
		place.Root = repo.Root()
		if main := repo.MainRoot(); main != place.Root {
			place.Main = main
		}
	}
	return local.New(place, env.Now)
}
