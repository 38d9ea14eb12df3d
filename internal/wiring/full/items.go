package full

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item/moved"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/checkout"
	"github.com/copse-dev/copse/internal/git/uncommitted"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/postgres/address"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/secret"
	"github.com/copse-dev/copse/internal/watch"
)

// filesOnly is the value of COPSE_ITEMS for the store of files, whatever the settings contain.
const filesOnly = "local"

// Items returns the store of work items: the database that COPSE_ITEMS or the user's settings name,
// or else the directory that these name, or else the .tic directory in the workspace or above, up
// to the root of its git worktree, or else that of the main worktree. None of them need exist.
// Close it after use.
func (w *Workspace) Items() storage.Store {
	if at, from, ok := w.database(); ok {
		return w.itemsAt(at, from)
	}
	return w.FilesOfItems()
}

// database returns the address of the database that the user chose and where, and false if the items
// are in files. The store of files reports unusable settings.
func (w *Workspace) database() (at, from string, ok bool) {
	if at := w.env.Getenv("COPSE_ITEMS"); at != "" {
		return at, "COPSE_ITEMS", at != filesOnly
	}
	s, err := w.Settings.User.Get()
	if err != nil {
		return "", "", false
	}
	at, ok = s.Items.DatabaseOf(w.env.Home(), w.Workspace(), w.Main)
	return at, "the value of items.database in your settings", ok
}

// ItemsAt returns the store of work items in the database with an address. The address is
// looked at when the store is first used.
func (w *Workspace) ItemsAt(at string) *postgres.Store { return w.itemsAt(at, "the address") }

// itemsAt is ItemsAt with a name of the address for errors.
func (w *Workspace) itemsAt(at, name string) *postgres.Store {
	a, formErr := address.Parse(at)
	w.env.Secrets.AddLogin(a.Login())
	w.env.Secrets.Add(a.KeyPassword())
	return postgres.New(postgres.Options{
		Database: connection.Options{Config: func() (*pgxpool.Config, error) {
			if formErr != nil {
				return nil, fmt.Errorf("%s %w", name, formErr)
			}
			return w.connection(a)
		}},
		Project: func() (string, error) { return w.projectOf(a) }, Done: w.done,
		Worktrees: func() []string { return checkout.Linked(w.Common) },
	})
}

// connection returns how to connect to a database. Its login, which a service file or .pgpass can
// contain, is then a known secret.
func (w *Workspace) connection(a address.Address) (*pgxpool.Config, error) {
	config, err := a.Config(address.Environment{Getenv: w.env.Getenv, Home: w.env.Home(), GOOS: w.env.GOOS})
	if err != nil {
		return nil, err
	}
	w.env.Secrets.AddLogin(config.ConnConfig.User, config.ConnConfig.Password)
	return config, nil
}

// knowDatabase makes the login of the chosen database a known secret before anything connects.
func (w *Workspace) knowDatabase(*secret.Set) {
	at, _, chosen := w.database()
	if !chosen {
		return
	}
	if a, err := address.Parse(at); err == nil {
		_, _ = w.connection(a) // the first connection reports the error
	}
}

// projectOf returns the name of the project in a database.
func (w *Workspace) projectOf(a address.Address) (string, error) {
	if a.Project != "" {
		return a.Project, nil
	}
	repository, err := w.Settings.Repository.Get()
	if err != nil {
		return "", err
	}
	user, err := w.Settings.User.Get()
	if err != nil {
		return "", err
	}
	name := cmp.Or(repository.Items.Project, user.Items.Project, filepath.Base(cmp.Or(w.Main, w.Workspace())))
	if strings.Contains(name, "://") { // it is not repeated: it may have a password
		return "", errors.New("items.project is an address and not a name; only COPSE_ITEMS and items.database in your own settings choose a database")
	}
	return name, nil
}

// done returns the statuses that the settings say mean done.
func (w *Workspace) done() ([]string, error) {
	if s, err := w.Settings.Repository.Get(); err != nil || s.Items.Done != nil {
		return s.Items.Done, err
	}
	s, err := w.Settings.User.Get()
	return s.Items.Done, err
}

// FilesOfItems returns the store of work items in files, whatever the user chose.
func (w *Workspace) FilesOfItems() *local.Store {
	elsewhere := func() (string, bool, error) {
		s, err := w.Settings.User.Get()
		path, ok := s.Items.DirectoryOf(w.env.Home(), w.Workspace(), w.Main)
		return path, ok, err
	}
	shared := ""
	if w.Common != "" {
		shared = filepath.Join(w.Common, "copse", "tic")
	}
	return local.New(location.Search{
		Dir: w.Dir, Root: w.Root, Main: w.Main, Shared: shared, Elsewhere: elsewhere, Unseen: w.Unseen,
		Owned: func() bool { return w.approved().Has(shared) },
	}, w.env.Now).DoneBy(w.done).CachedIn(w.env.ItemsCacheDir()).InGit(git.Options{Env: w.env.Environ, Self: w.env.Self})
}

// hasPrivateItems reports whether a worktree has a store of its own that git does not track, or one that
// cannot be seen.
func (w *Workspace) hasPrivateItems(ctx context.Context, root string) bool {
	s := local.New(location.Search{Dir: root}, w.env.Now).InGit(git.Options{Env: w.env.Environ})
	_, err := s.Path()
	if errors.Is(err, location.ErrLeftOut) {
		return false // git tracks it
	}
	return !errors.Is(err, storage.ErrNoProject) && (err != nil || s.Mode(ctx) == local.Private)
}

// ignored returns the ignored files of a worktree, without those of a store of work items.
func (w *Workspace) ignored(ctx context.Context, root string) ([]string, error) {
	repo, err := git.Discover(ctx, root, git.Options{Env: w.env.Environ})
	if err != nil {
		return nil, err
	}
	files, err := uncommitted.Ignored(ctx, repo)
	return slices.DeleteFunc(files, func(name string) bool { return strings.HasPrefix(name, location.Name+"/") }), err
}

// WatchItems calls changed after each change of the items in a store, until ctx ends. It calls
// ready when no later change is missed, and failed where changes are seen late.
func (w *Workspace) WatchItems(ctx context.Context, store storage.Store, ready, changed func(), failed func(error)) {
	switch at := store.(type) {
	case *postgres.Store:
		at.Follow(ctx, ready, changed)
	case *local.Store:
		watch.Follow(ctx, func() watch.Paths {
			dirs, err := at.Watched()
			if err != nil {
				return watch.Paths{Dirs: []string{w.Workspace()}}
			}
			return watch.Paths{Dirs: []string{filepath.Dir(dirs[0])}, Trees: dirs}
		}, ready, changed, failed)
	}
}

// ItemsName returns the name of the store of Items for people, without a password.
func (w *Workspace) ItemsName() string {
	if at, _, ok := w.database(); ok {
		return w.StoreName(at)
	}
	return moved.Files
}

// StoreName returns the address of a project in a database, without a password.
func (w *Workspace) StoreName(at string) string {
	a, err := address.Parse(at)
	if err != nil {
		return "a database"
	}
	if a.Project == "" {
		a.Project, _ = w.projectOf(a)
	}
	return a.String()
}
