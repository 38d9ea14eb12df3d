// Package itemsync makes what keeps a shared store of work items in step with its
// branch and a remote. It is apart from package itemstore because it writes to
// repositories and reaches the network, and only programs that sync link it.
package itemsync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/shared"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/wiring/place"
	"github.com/copse-dev/copse/internal/wiring/where"
)

// ErrNotShared says that the store of a place is not the shared one.
var ErrNotShared = errors.New("its items are in the working tree or kept apart, and only a shared store is synced")

// Open returns the syncer of the store of a place. remote is the name or the address
// of a remote; empty is the one named origin, else the only one, else none. Close the
// branch after use.
func Open(ctx context.Context, env app.Env, p where.Place, store *local.Store, remote string) (*shared.Syncer, error) {
	if _, err := store.Path(); err != nil {
		return nil, err
	}
	if !store.Shared() {
		return nil, ErrNotShared
	}
	user, err := settings.OpenUser(place.Settings(env)).Get()
	if err != nil {
		return nil, err
	}
	repo, err := git.Discover(ctx, p.Dir, git.Options{Env: env.Environ})
	if err != nil {
		return nil, err
	}
	to, err := remoteOf(ctx, repo, remote)
	if err != nil {
		return nil, err
	}
	name, email := repo.Author(ctx)
	branch, err := sidebranch.Open(ctx, sidebranch.Repository{
		CommonDir: repo.CommonDir(), Dir: cmp.Or(repo.MainRoot(), repo.Root(), repo.CommonDir()),
		ObjectFormat: repo.ObjectFormat(), Name: name, Email: email, Env: env.Environ,
	}, cmp.Or(user.Items.Branch, shared.DefaultBranch))
	if err != nil {
		return nil, err
	}
	return &shared.Syncer{Store: store, Branch: branch, Remote: to, Now: env.Now}, nil
}

// remoteOf returns the remote that is meant, nil if there is none.
func remoteOf(ctx context.Context, repo *git.Repo, chosen string) (*sidebranch.Remote, error) {
	names, err := repo.Remotes(ctx)
	if err != nil {
		return nil, err
	}
	switch {
	case chosen != "" && slices.Contains(names, chosen):
	case strings.ContainsAny(chosen, `/\:`):
		return &sidebranch.Remote{Fetch: chosen}, nil
	case chosen != "":
		return nil, &item.InvalidError{Problem: fmt.Sprintf("There is no remote %q. Remotes: %s", chosen, strings.Join(names, ", "))}
	case len(names) == 0:
		return nil, nil
	case slices.Contains(names, "origin"):
		chosen = "origin"
	case len(names) == 1:
		chosen = names[0]
	default:
		return nil, &item.InvalidError{Problem: "There are several remotes and none is named origin. Choose one with --remote: " + strings.Join(names, ", ")}
	}
	address, err := repo.Address(ctx, chosen)
	return &sidebranch.Remote{Fetch: address.Fetch, Push: address.Push}, err
}

// AfterChanges reports whether the user wants every change to be synced.
func AfterChanges(env app.Env) bool {
	user, err := settings.OpenUser(place.Settings(env)).Get()
	return err == nil && user.Items.Sync == settings.SyncAfterChange
}
