package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/shared"
	"github.com/copse-dev/copse/internal/settings"
)

// ErrNotShared says that the store of a workspace is not the shared one.
var ErrNotShared = errors.New("its items are in the working tree or kept apart, and only a shared store is synced")

// Sync returns what keeps the shared store of the workspace in step with its branch and a
// remote. remote is the name or the address
// of a remote; empty is the one named origin, else the only one, else none. Close the
// branch after use.
func (w *Workspace) Sync(ctx context.Context, store *local.Store, remote string) (*shared.Syncer, error) {
	if _, err := store.Path(); err != nil {
		return nil, err
	}
	if !store.Shared() {
		return nil, ErrNotShared
	}
	user, err := w.Settings.User.Get()
	if err != nil {
		return nil, err
	}
	repo, err := w.Session.Repo(ctx)
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
		ObjectFormat: repo.ObjectFormat(), Name: name, Email: email, Env: w.env.Environ,
	}, cmp.Or(user.Items.Branch, shared.DefaultBranch))
	if err != nil {
		return nil, err
	}
	return &shared.Syncer{Store: store, Branch: branch, Remote: to, Now: w.env.Now}, nil
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

// syncInBackground syncs the store after each change, if the user wants that and it is
// shared then. Close what is returned after use.
func (w *Workspace) syncInBackground(store *local.Store, logger *slog.Logger) *shared.Background {
	b := shared.NewBackground(func(ctx context.Context) error {
		if !store.Shared() || !w.SyncsChanges() {
			return nil
		}
		syncer, err := w.Sync(ctx, store, "")
		if err != nil {
			return err
		}
		defer syncer.Branch.Close()
		r, err := syncer.Sync(ctx)
		return cmp.Or(err, r.Offline)
	}, logger)
	store.OnChange(b.Changed)
	return b
}

// SyncsChanges reports whether the user wants every change to be synced.
func (w *Workspace) SyncsChanges() bool {
	user, err := w.Settings.User.Get()
	return err == nil && user.Items.Sync == settings.SyncAfterChange
}
