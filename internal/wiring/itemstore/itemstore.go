// Package itemstore finds the store of work items for a place. It is apart from
// package wiring because the store writes, and the read-only program must not link
// it.
package itemstore

import (
	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items"
	"github.com/copse-dev/copse/internal/wiring/place"
	"github.com/copse-dev/copse/internal/wiring/where"
)

// Open returns the store of a place: the directory that the user's settings name, else
// the .tic directory in the place or above, up to the root of its git worktree, else that
// of the main worktree. None of them need exist. Close it after use.
func Open(env app.Env, p where.Place) *local.Store {
	user := settings.OpenUser(place.Settings(env))
	elsewhere := func() (string, bool, error) {
		s, err := user.Get()
		path, ok := s.Items.DirectoryOf(env.Home(), p.Workspace(), p.Main)
		return path, ok, err
	}
	repository := settings.OpenRepository(p.Workspace(), place.Settings(env))
	done := func() ([]string, error) {
		if s, err := repository.Get(); err != nil || s.Items.Done != nil {
			return s.Items.Done, err
		}
		s, err := user.Get()
		return s.Items.Done, err
	}
	return local.New(local.Place{Dir: p.Dir, Root: p.Root, Main: p.Main, Shared: p.Shared, Elsewhere: elsewhere, Done: done}, env.Now).InGit(git.Options{Env: env.Environ})
}

// Toolsets returns the toolset of a store alone.
func Toolsets(env app.Env, store *local.Store) []toolset.Toolset {
	return []toolset.Toolset{items.New(store, env.Now).Toolset()}
}
