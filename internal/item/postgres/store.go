// Package postgres stores work items in a PostgreSQL database, which the machines of a team share.
//
// [New] returns a [Store], a [storage.Store]. It connects when it is first used, and again
// whenever a connection was lost. It guarantees that
//
//   - a change is one transaction, with its history. It happens once or not at all: if the response
//     to a commit is lost, the store searches for the key of the change before it tries again;
//   - the changes of a project run one after the other, under the lock of the project's row. Their
//     numbers are in the order of the commits, so a reader of the changes after a number skips
//     none;
//   - numbers of items have no gaps and are never used again;
//   - reading takes no lock and writes nothing: a role that can only read, and a replica,
//     can do it;
//   - no statement depends on the session that it runs in: a pooler may give each transaction
//     another one. Only a direct connection to the server has prepared statements;
//   - if a server never stops sending, or stays silent, the call fails after a limited amount and
//     time.
//
// Text of the server is foreign: errors contain it clean and short. [Store.Migrate] creates the
// tables, when a person requests it.
//
// The packages below have one job each: address reads the address of a database, connection
// connects and tries again, row reads rows, write makes changes, taking claims, schema has the tables, follow
// reports changes, bounded limits what a server sends, and sqlerror explains its errors. A Store
// caches what it read, decides which item an agent claims, and announces changes.
package postgres

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/postgres/describe"
	"github.com/copse-dev/copse/internal/item/postgres/follow"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/schema"
	"github.com/copse-dev/copse/internal/item/postgres/write"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Options say where a project is.
type Options struct {
	// Database says how to connect.
	Database connection.Options
	// Project returns the name of the project.
	Project func() (string, error)
	// Done returns the statuses that mean done where the project does not say; nil is none.
	Done func() ([]string, error)
	// Worktrees returns the worktrees of this repository. A holder in another one, whose path others can
	// choose, is not looked for.
	Worktrees func() []string
}

// Store is one project in a database. It is safe for concurrent use.
type Store struct {
	projectName func() (string, error)
	done        func() ([]string, error)
	worktrees   func() []string
	db          *connection.Pool
	announcer   *follow.Announcer
	space       *write.Space
	cached      cache

	mu      sync.Mutex
	renewed map[claim.Agent]time.Time // when the claims of an agent were looked at
	goneAt  time.Time                 // when holders that ended were looked for
}

var (
	_ storage.Store     = (*Store)(nil)
	_ storage.Claimer   = (*Store)(nil)
	_ storage.Historian = (*Store)(nil)
)

// New returns the store of a project. Nothing is connected yet.
func New(o Options) *Store {
	s := &Store{projectName: o.Project, done: o.Done, worktrees: o.Worktrees, db: connection.New(o.Database)}
	if s.worktrees == nil {
		s.worktrees = func() []string { return nil }
	}
	s.announcer, s.space = follow.NewAnnouncer(s.announce), write.NewSpace(s.db.MaxAnswer())
	return s
}

// Close ends the connections. A store that is used again connects again.
func (s *Store) Close() error {
	s.announcer.Flush()
	s.db.Close()
	return nil
}

// Migrate creates or updates the tables.
func (s *Store) Migrate(ctx context.Context) ([]schema.Applied, error) { return s.db.Migrate(ctx) }

// Describe returns a description of the database.
func (s *Store) Describe(ctx context.Context) (describe.Database, error) { return s.db.Describe(ctx) }

// Config implements [storage.Backend].
func (s *Store) Config(ctx context.Context) (item.Config, error) {
	var p row.Project
	err := s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		found, err := s.project(ctx, db)
		p = found
		return err
	})
	if err != nil {
		return item.Config{}, err
	}
	return s.configOf(p)
}

// configOf returns the configuration of a project, completed by the settings.
func (s *Store) configOf(p row.Project) (item.Config, error) {
	c := p.Config
	if reason := p.Moved.Warning(); reason != "" {
		c.Warnings = []item.Warning{{File: "project " + p.Name, Reason: reason}}
	}
	if len(c.DoneStatuses) == 0 && s.done != nil {
		done, err := s.done()
		if err != nil {
			return item.Config{}, &storage.ConfigError{File: "project " + p.Name, Reason: "leaves the done statuses to your settings: " + err.Error()}
		}
		c.DoneStatuses = done
	}
	return c, nil
}

// Item implements [storage.Backend].
func (s *Store) Item(ctx context.Context, id item.ID) (it item.Item, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		found, err := row.FindItem(ctx, db, p.ID, id, row.Live)
		it = found.Item
		return err
	})
	return it, err
}

// Create implements [storage.Backend].
func (s *Store) Create(ctx context.Context, d item.Draft) (it item.Item, err error) {
	id, replayed, err := s.change(ctx, func(w *write.Writer) (item.ID, error) {
		it, err = w.Create(d)
		return it.ID, err
	})
	return s.again(ctx, it, id, replayed, err)
}

// Update implements [storage.Backend].
func (s *Store) Update(ctx context.Context, id item.ID, p item.Patch) (it item.Item, err error) {
	_, replayed, err := s.change(ctx, func(w *write.Writer) (item.ID, error) {
		it, err = w.Update(id, p)
		return id, err
	})
	return s.again(ctx, it, id, replayed, err)
}

// again returns what a change made of an item. If the change was found to have been made
// before, the item is read again.
func (s *Store) again(ctx context.Context, it item.Item, id item.ID, replayed bool, err error) (item.Item, error) {
	if err != nil {
		return item.Item{}, err
	}
	if replayed {
		return s.Item(ctx, id)
	}
	return it, nil
}

// AddComment implements [storage.Backend].
func (s *Store) AddComment(ctx context.Context, id item.ID, author, text string) (item.Comment, error) {
	c, err := item.CheckComment(cmp.Or(author, claim.AgentOf(ctx).Name), text)
	if err != nil {
		return item.Comment{}, err
	}
	var added item.Comment
	_, replayed, err := s.change(ctx, func(w *write.Writer) (item.ID, error) {
		added, err = w.AddComment(id, c) // c remains for another attempt
		return id, err
	})
	if err != nil {
		return item.Comment{}, err
	}
	if replayed {
		return s.lastComment(ctx, id, c)
	}
	return added, nil
}

// lastComment returns the comment with this author and text that was added last.
func (s *Store) lastComment(ctx context.Context, id item.ID, c item.Comment) (item.Comment, error) {
	it, err := s.Item(ctx, id)
	for _, added := range it.Comments {
		if added.Author == c.Author && added.Body == c.Body {
			c = added
		}
	}
	return c, err
}

// Delete implements [storage.Backend]. The item goes to the trash.
func (s *Store) Delete(ctx context.Context, id item.ID, seen item.Fingerprint, steal bool) error {
	_, _, err := s.change(ctx, func(w *write.Writer) (item.ID, error) { return id, w.Delete(id, seen, steal) })
	return err
}

// Restore implements [storage.Backend]. The item comes from the trash.
func (s *Store) Restore(ctx context.Context, id item.ID) (it item.Item, err error) {
	_, replayed, err := s.change(ctx, func(w *write.Writer) (item.ID, error) {
		it, err = w.Restore(id)
		return id, err
	})
	return s.again(ctx, it, id, replayed, err)
}

// SetIteration implements [storage.Backend].
func (s *Store) SetIteration(ctx context.Context, name string) error {
	_, _, err := s.change(ctx, func(w *write.Writer) (item.ID, error) { return 0, w.SetIteration(name) })
	return err
}

// SetDoneStatuses implements [storage.Store].
func (s *Store) SetDoneStatuses(ctx context.Context, statuses []string) error {
	_, _, err := s.change(ctx, func(w *write.Writer) (item.ID, error) { return 0, w.SetDoneStatuses(statuses) })
	return err
}

// Purge implements [storage.Store].
func (s *Store) Purge(ctx context.Context, ids ...item.ID) error {
	_, _, err := s.change(ctx, func(w *write.Writer) (item.ID, error) { return 0, w.Purge(ids) })
	return err
}

// Capabilities implements [storage.Backend]: the database can do all of it.
func (s *Store) Capabilities() storage.Capabilities { return storage.Capabilities{} }
