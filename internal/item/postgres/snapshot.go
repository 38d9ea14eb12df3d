package postgres

import (
	"context"
	"sync"

	"github.com/copse-dev/copse/internal/item"
)

// cache is the items of the project as of a version.
type cache struct {
	mu      sync.Mutex
	project int64
	version int64
	all     *item.Snapshot // nil before it is needed
}

// Snapshot is of item.Backend. It asks for what changed since it was called last, in one
// statement, which sees all changes up to the version of the project.
func (s *Store) Snapshot(ctx context.Context) (*item.Snapshot, error) {
	all, _, err := s.snapshot(ctx)
	return all, err
}

// snapshot returns all items with the claims that count, and the version of the project that
// they are at least as new as.
func (s *Store) snapshot(ctx context.Context) (*item.Snapshot, int64, error) {
	var held map[item.ID]item.Claim
	c := &s.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	err := s.read(ctx, func(ctx context.Context, db querier) error {
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		// A project that was made again, or a database that was restored from a backup,
		// begins again.
		if c.all == nil || p.id != c.project || p.version < c.version {
			c.all, c.project, c.version = new(item.Snapshot), p.id, -1
		}
		if p.version != c.version {
			if err := c.follow(ctx, db, p); err != nil {
				return err
			}
		}
		held, err = claims(ctx, db, p.id)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return c.all.WithClaims(held), c.version, nil
}

// follow takes in what changed since the version of the cache. The items are read after the
// version of the project, so that they are at least as new; what is newer comes again.
func (c *cache) follow(ctx context.Context, db querier, p project) error {
	changes := make(map[item.ID]*item.Entry)
	err := eachItem(ctx, db, func(r row) {
		if changes[r.ID] = nil; r.state == live {
			changes[r.ID] = item.NewEntry(&r.Item)
		}
	}, "i.project_id = $1 and i.version > $2", p.id, c.version)
	if err != nil {
		return err
	}
	c.all, c.version = c.all.With(changes, nil), p.version
	return nil
}

// Links is of item.Store.
func (s *Store) Links(ctx context.Context) (map[item.ID]item.Link, error) {
	links := map[item.ID]item.Link{}
	err := s.read(ctx, func(ctx context.Context, db querier) error {
		clear(links)
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		rows, err := db.Query(ctx, `select id, branch, worktree, pull_request from copse.item
			where project_id = $1 and state = 'live' and (branch <> '' or worktree <> '' or pull_request <> '')`, p.id)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id item.ID
			var l item.Link
			if err := rows.Scan(&id, &l.Branch, &l.Worktree, &l.PullRequest); err != nil {
				return err
			}
			links[id] = item.Link{Branch: original(l.Branch), Worktree: original(l.Worktree), PullRequest: original(l.PullRequest)}
		}
		return rows.Err()
	})
	return links, err
}
