// Package itemstore finds the store of work items for a place. It is apart from
// package wiring because the store writes, and the read-only program must not link
// it.
package itemstore

import (
	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/toolset"
	"github.com/copse-dev/copse/internal/toolset/items"
	"github.com/copse-dev/copse/internal/wiring/where"
)

// Open returns the store of a place: the .tic folder in it or above, up to the root
// of its git worktree, else that of the main worktree. None of them need exist.
// Close it after use.
func Open(env app.Env, p where.Place) *local.Store {
	return local.New(local.Place(p), env.Now).InGit(git.Options{Env: env.Environ})
}

// Toolsets returns the toolset of a store alone.
func Toolsets(env app.Env, store *local.Store) []toolset.Toolset {
	return []toolset.Toolset{items.New(store, env.Now).Toolset()}
}
