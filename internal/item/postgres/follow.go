package postgres

import (
	"context"
	"time"

	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/postgres/follow"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Follow calls changed after each change of the project or its claims, by whomever, until ctx
// ends. No change after the call of ready is missed. See package follow for what it costs.
func (s *Store) Follow(ctx context.Context, ready, changed func()) {
	follow.Run(ctx, follow.Source{Look: s.state, Connect: s.db.Dial, Send: s.announce}, ready, changed)
}

// lookTime is how long the database may take to tell its state.
const lookTime = 5 * time.Second

// state returns the state of the project. It does not try again: a follower does.
func (s *Store) state(ctx context.Context) (now follow.State, err error) {
	err = connection.Within(ctx, lookTime, func(ctx context.Context) error {
		pool, err := s.db.Ready(ctx)
		if err != nil {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		var latest *time.Time
		err = pool.QueryRow(ctx, `select p.id, p.version, pg_catalog.count(k.item_id), pg_catalog.count(k.gone), pg_catalog.max(k.since) from copse.project p
			left join copse.claim k on k.project_id = p.id and k.expires > pg_catalog.clock_timestamp()
			where p.name = $1 group by p.id, p.version`, sqltext.Encode(name)).
			Scan(&now.Project, &now.Version, &now.Claims, &now.Gone, &latest)
		if latest != nil {
			now.Latest = latest.UnixMicro()
		}
		return err
	})
	return now, err
}

// announce makes an announcement. Nothing is connected for it that is not in use.
func (s *Store) announce(ctx context.Context, payload string) error {
	pool := s.db.InUse()
	if pool == nil {
		return &storage.StoreError{Problem: "the store was closed", Next: "Open it again."}
	}
	return follow.Send(ctx, pool, payload)
}
