// Package where finds the place that a program is asked about.
package where

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git"
)

// Place is a folder, and the git worktree that it is in. Paths are absolute.
type Place struct {
	Dir string
	// Root is the root of the worktree; empty outside of git.
	Root string
	// Main is the root of the main worktree, if Root is that of a linked one.
	Main string
	// Shared is where the repository's shared store of items is, if it has one;
	// empty outside of git.
	Shared string
}

// Find looks at the folder dir, the working folder if it is "". A repository that
// cannot be used is as good as none.
func Find(ctx context.Context, env app.Env, dir string) Place {
	named := dir != ""
	dir = cmp.Or(dir, env.Dir)
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(env.Dir, dir)
	}
	p := Place{Dir: dir}
	if repo, err := git.Discover(ctx, dir, git.Options{Env: env.Environ, Named: named}); err == nil {
		p.Root = repo.Root()
		if main := repo.MainRoot(); main != p.Root {
			p.Main = main
		}
		p.Shared = filepath.Join(repo.CommonDir(), "copse", "tic")
	}
	return p
}

// Workspace is the root of the worktree, the folder itself outside of git.
func (p Place) Workspace() string { return cmp.Or(p.Root, p.Dir) }
