// Package itemsync syncs the shared store of work items with its branch and a remote: on request,
// after each change, or for as long as a command runs.
//
// Use [New]. Package shared makes one exchange; this package chooses the branch, the remote, and
// the time.
package itemsync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/shared"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/settings"
	"github.com/copse-dev/copse/internal/watch"
)

// ErrNotShared reports that the store of a project is not the shared one.
var ErrNotShared = errors.New("the items of this project are committed or private, and copse syncs only a shared store")

// Options select what to sync.
type Options struct {
	Session *session.Session
	// Store is nil if the items are not kept in files.
	Store *local.Store
	// User returns the user's settings.
	User func() (settings.User, error)
	// Approved are the stores whose remotes may be contacted without a request.
	Approved Approved
	Env      []string
	Now      func() time.Time
	// Redact returns a text without secrets; see [shared.Syncer].
	Redact func(string) string
}

// Sync keeps one store in step.
type Sync struct{ o Options }

// New returns the sync of a store.
func New(o Options) *Sync { return &Sync{o} }

// Approve records that the user has created the store, or has asked for its sync, with a remote that
// [Sync.Remote] returned, nil if there is none: from now on, the other functions contact that address.
// It does nothing if the store is not shared.
func (s *Sync) Approve(remote *sidebranch.Remote) error {
	if !s.shared() {
		return nil
	}
	path, err := s.o.Store.Path()
	if err != nil {
		return err
	}
	return s.o.Approved.add(path, remote)
}

// approved returns an error unless the user has approved the store for the remote.
func (s *Sync) approved(remote *sidebranch.Remote) error {
	path, err := s.o.Store.Path()
	if err != nil {
		return err
	}
	return s.o.Approved.Check(path, remote)
}

// Remote returns the remote with a name or address; if it is "", the one named origin, or else the only
// one, or else nil.
func (s *Sync) Remote(ctx context.Context, chosen string) (*sidebranch.Remote, error) {
	repo, err := s.o.Session.Repo(ctx)
	if err != nil {
		return nil, err
	}
	return remoteOf(ctx, repo, chosen)
}

// Open returns the syncer of the store with the remote that [Sync.Remote] returns. The user has asked for
// its sync, so git can ask for a login. Close the branch after use.
func (s *Sync) Open(ctx context.Context, remote string) (*shared.Syncer, error) {
	return s.open(ctx, remote, false)
}

func (s *Sync) open(ctx context.Context, remote string, unattended bool) (*shared.Syncer, error) {
	if s.o.Store != nil {
		if _, err := s.o.Store.Path(); err != nil {
			return nil, err
		}
	}
	if !s.shared() {
		return nil, ErrNotShared
	}
	user, err := s.o.User()
	if err != nil {
		return nil, err
	}
	repo, err := s.o.Session.Repo(ctx)
	if err != nil {
		return nil, err
	}
	to, err := remoteOf(ctx, repo, remote)
	if err != nil {
		return nil, err
	}
	name, email := repo.Author(ctx)
	branch, err := sidebranch.Open(ctx, sidebranch.Repository{Repo: repo, Name: name, Email: email, Env: s.o.Env, Unattended: unattended}, user.Items.ItemsBranch())
	if err != nil {
		return nil, err
	}
	return &shared.Syncer{Store: s.o.Store, Branch: branch, Remote: to, Now: s.o.Now, Redact: s.o.Redact}, nil
}

// Offered returns the short name of the remote-tracking ref, such as origin/copse-items, of a shared
// store that this clone does not have yet; "" if there is none, or it cannot be found out.
func (s *Sync) Offered(ctx context.Context) string {
	if s.o.Store == nil {
		return ""
	}
	if _, err := s.o.Store.Path(); !errors.Is(err, storage.ErrNoProject) {
		return ""
	}
	return s.Elsewhere(ctx)
}

// Elsewhere returns the ref of shared items on a remote, as Offered does, also if this clone has a store. It
// returns "" if that store is shared.
func (s *Sync) Elsewhere(ctx context.Context) string {
	if s.o.Store == nil || s.shared() {
		return ""
	}
	user, err := s.o.User()
	if err != nil {
		return ""
	}
	repo, err := s.o.Session.Repo(ctx)
	if err != nil {
		return ""
	}
	remotes, err := repo.Remotes(ctx)
	if err != nil {
		return ""
	}
	const prefix, maxRemotes = "refs/remotes/", 100
	var refs []string
	for _, remote := range remotes[:min(len(remotes), maxRemotes)] {
		refs = append(refs, prefix+remote+"/"+user.Items.ItemsBranch())
	}
	found, err := repo.CommitsOf(ctx, refs)
	if err != nil {
		return ""
	}
	for _, ref := range refs {
		if found[ref] != "" {
			return strings.TrimPrefix(ref, prefix)
		}
	}
	return ""
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
		return nil, &item.InvalidError{Problem: fmt.Sprintf("There is no remote %q. Remotes: %s", chosen, listed(names))}
	case len(names) == 0:
		return nil, nil
	case slices.Contains(names, "origin"):
		chosen = "origin"
	case len(names) == 1:
		chosen = names[0]
	default:
		return nil, &item.InvalidError{Problem: "There are several remotes and none is named origin. Choose one with --remote: " + listed(names)}
	}
	address, err := repo.Address(ctx, chosen)
	return &sidebranch.Remote{Fetch: address.Fetch, Push: address.Push}, err
}

// listed returns the first names of a list, of which a repository can have any number.
func listed(names []string) string {
	const most = 10
	if more := len(names) - most; more > 1 {
		return fmt.Sprintf("%s, and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// shared reports whether the store is the shared one of a repository.
func (s *Sync) shared() bool { return s.o.Store != nil && s.o.Store.Shared() }

// Publish exchanges the store once if clones share it. decided is false if none do: the store is
// not shared, or has no remote. The error is [ErrNotApproved] or
// [ErrOtherAddress] if the user has not approved the store for the remote.
func (s *Sync) Publish(ctx context.Context) (decided bool, err error) {
	if !s.shared() {
		return false, nil
	}
	syncer, err := s.open(ctx, "", true)
	if err != nil {
		return false, err
	}
	defer syncer.Branch.Close()
	if syncer.Remote == nil {
		return false, nil
	}
	if err := s.approved(syncer.Remote); err != nil {
		return true, err
	}
	r, err := syncer.Sync(ctx)
	if err = cmp.Or(err, r.Offline); err == nil {
		s.o.Store.PublishedClaims()
	}
	return true, err
}

// backgroundTime is how long a sync that nobody waits for may use the remote.
const backgroundTime = 2 * time.Minute

// AfterChange exchanges the store once if it is shared and the user's settings request a sync after
// each change, or if claims have changed, which other clones must know. The error is
// [ErrNotApproved] or [ErrOtherAddress] if there is a remote for which the user has not approved the store.
func (s *Sync) AfterChange(ctx context.Context) error {
	if !s.shared() {
		return nil
	}
	user, err := s.o.User()
	claims := s.o.Store.ChangedClaims()
	if !claims && (err != nil || user.Items.Sync != settings.SyncAfterChange) {
		return nil // unreadable settings are reported where they are opened
	}
	syncer, err := s.open(ctx, "", true)
	if err != nil {
		return err
	}
	defer syncer.Branch.Close()
	if syncer.Remote != nil {
		if err := s.approved(syncer.Remote); err != nil {
			return err
		}
	}
	syncer.RemoteTime = backgroundTime
	if claims {
		s.o.Store.PublishedClaims() // before, so that what changes meanwhile is known to be new
	}
	r, err := syncer.Sync(ctx)
	if err = cmp.Or(err, r.Offline); err != nil && claims {
		s.o.Store.UnpublishedClaims()
	}
	return err
}

// Waiting returns how many files of the store have changes that the remote is not known to
// have: 0 if the store is not shared, or if there is no remote.
func (s *Sync) Waiting(ctx context.Context) (int, error) {
	if !s.shared() {
		return 0, nil
	}
	syncer, err := s.open(ctx, "", true)
	if err != nil {
		return 0, err
	}
	defer syncer.Branch.Close()
	if syncer.Remote == nil {
		return 0, nil
	}
	return syncer.Waiting(ctx)
}

// Background calls AfterChange after each change of the store, in a goroutine of its own.
// Close it after use.
func (s *Sync) Background(logger *slog.Logger) *shared.Background {
	b := shared.NewBackground(s.AfterChange, logger)
	if s.o.Store != nil {
		s.o.Store.OnChange(b.Changed)
	}
	return b
}

// Watch exchanges the store immediately, after each change of its files, and at an interval, until
// ctx ends. It calls report after each exchange; an error of report, or of the store, ends Watch.
func Watch(ctx context.Context, syncer *shared.Syncer, interval time.Duration, report func(shared.Result) error) error {
	path, err := syncer.Store.Path()
	if err != nil {
		return err
	}
	changed := make(chan struct{}, 1)
	notify := func() {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		trees := []string{filepath.Join(path, "items"), filepath.Join(path, "trash"), filepath.Join(path, "links"), filepath.Join(path, "claims")}
		// Where files cannot be watched, the interval remains.
		_ = watch.Run(watching, watch.Paths{Dirs: []string{path}, Trees: trees}, func() {}, notify)
	}()
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		r, err := syncer.Sync(ctx)
		if ctx.Err() != nil {
			return nil // watching ends with an interruption
		}
		if err != nil {
			return err
		}
		if err := report(r); err != nil {
			return err
		}
		select {
		case <-changed:
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}
