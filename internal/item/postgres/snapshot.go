package postgres

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// cache is the items of the project as of a version.
type cache struct {
	mu      sync.Mutex
	project int64
	version int64
	all     *item.Snapshot // nil before it is needed
	links   map[item.ID]item.Link
	moved   moved.Mark
	held    held

	// best are the items that an agent would claim if nobody held any, the best first; nil
	// before they are needed. depth is how many of them were held lately.
	best  []int64
	depth int
}

// Snapshot implements [storage.Backend]. It asks for the changes since the last call, in one
// statement, which sees all changes up to the version of the project.
func (s *Store) Snapshot(ctx context.Context) (*item.Snapshot, error) {
	_, all, err := s.Read(ctx)
	return all, err
}

// Read returns the configuration of the project and all items, with the valid claims.
func (s *Store) Read(ctx context.Context) (item.Config, *item.Snapshot, error) {
	c := &s.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	config, held, err := s.refresh(ctx)
	if err != nil {
		return item.Config{}, nil, err
	}
	return config, c.all.WithClaims(held), nil
}

// refresh brings the cache, which the caller has locked, up to date. It returns the configuration
// of the project and the valid claims.
func (s *Store) refresh(ctx context.Context) (config item.Config, held map[item.ID]claim.Claim, err error) {
	c := &s.cached
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		p, claims, err := s.look(ctx, db)
		if err != nil {
			return err
		}
		// A project that was made again, or a database that was restored from a backup,
		// begins again.
		if c.all == nil || p.ID != c.project || p.Version < c.version {
			c.all, c.links, c.project, c.version, c.best = new(item.Snapshot), map[item.ID]item.Link{}, p.ID, -1, nil
		}
		if p.Version != c.version {
			if err := c.follow(ctx, db, p); err != nil {
				return err
			}
		}
		held, c.moved = claims, p.Moved
		config, err = s.configOf(p)
		return err
	})
	return config, held, err
}

// follow takes in what changed since the version of the cache. The items are read after the
// version of the project, so that they are at least as new; what is newer comes again.
func (c *cache) follow(ctx context.Context, db *pgxpool.Pool, p row.Project) error {
	changes := make(map[item.ID]*item.Entry)
	warnings := slices.Clone(c.all.Warnings)
	links := maps.Clone(c.links)
	err := row.EachItem(ctx, db, func(r row.Item) {
		if beyond := r.Beyond(); beyond != (item.Warning{}) {
			warnings = slices.DeleteFunc(warnings, func(w item.Warning) bool { return w == beyond })
			if r.State == row.Live {
				warnings = append(warnings, beyond)
			}
			return
		}
		changes[r.ID] = nil
		delete(links, r.ID)
		if r.State == row.Live {
			changes[r.ID] = item.NewEntry(&r.Item)
			if r.Link != (item.Link{}) {
				links[r.ID] = r.Link
			}
		}
	}, "i.project_id = $1 and i.version > $2", p.ID, c.version)
	if err != nil {
		return err
	}
	c.all, c.links, c.version, c.best = c.all.With(changes, warnings), links, p.Version, nil
	return nil
}

// Links implements [storage.Store].
func (s *Store) Links(ctx context.Context) (map[item.ID]item.Link, error) {
	c := &s.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, _, err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return maps.Clone(c.links), nil
}

// Descriptions returns the descriptions of those of the items that exist.
func (s *Store) Descriptions(ctx context.Context, ids []item.ID) (map[item.ID]string, error) {
	found := make(map[item.ID]string, len(ids))
	err := s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		name, err := s.name()
		if err != nil {
			return err
		}
		rows, err := db.Query(ctx, `select i.id, `+row.Text("i.description", row.MaxLong)+` from copse.item i join copse.project p on p.id = i.project_id
			where p.name = $1 and i.id = any($2) and i.state = 'live'`, sqltext.Encode(name), sqltext.Numbers(ids))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var id item.ID
			var text string
			if err := rows.Scan(&id, &text); err != nil {
				return err
			}
			found[id] = sqltext.Decode(text)
		}
		return rows.Err()
	})
	return found, err
}
