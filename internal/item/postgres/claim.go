package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
)

// claimColumns are what scanClaim reads. Times that no copse wrote, such as infinity, are brought
// into a range that every program can show.
const (
	claimColumns = "k.item_id, k.holder" + clamp + "k.since" + clamped + clamp + "k.renewed" + clamped + clamp + "k.expires" + clamped +
		", case when k.gone is not null then least(greatest(k.gone" + clamped + " end, k.stolen_from, clock_timestamp()"

	clamp   = ", least(greatest("
	clamped = ", clock_timestamp() - interval '1000 years'), clock_timestamp() + interval '1000 years')"
)

// scanClaim reads claimColumns. A holder that nobody can read is an unknown one.
func scanClaim(r pgx.Row) (id item.ID, c item.Claim, now time.Time, err error) {
	var holder string
	var gone *time.Time
	if err := r.Scan(&id, &holder, &c.Since, &c.Renewed, &c.Expires, &gone, &c.StolenFrom, &now); err != nil {
		return 0, item.Claim{}, now, err
	}
	_ = json.Unmarshal([]byte(holder), &c.Holder)
	c.StolenFrom = original(c.StolenFrom)
	for _, at := range []*time.Time{&c.Since, &c.Renewed, &c.Expires, &now} {
		*at = at.UTC()
	}
	if gone != nil {
		c.Gone = gone.UTC()
	}
	return id, c, now, nil
}

// claims returns the claims that count.
func claims(ctx context.Context, db querier, project int64) (map[item.ID]item.Claim, error) {
	rows, err := db.Query(ctx, "select "+claimColumns+" from copse.claim k where k.project_id = $1 and k.expires > clock_timestamp()", project)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[item.ID]item.Claim{}
	for rows.Next() {
		id, c, now, err := scanClaim(rows)
		if err != nil {
			return nil, err
		}
		if !c.Ended(now) {
			found[id] = c
		}
		if err := bounded.CheckRows(len(found)); err != nil {
			return nil, err
		}
	}
	return found, rows.Err()
}

// claimOf returns the claim of an item, nil if there is none that counts.
func (w *writer) claimOf(id item.ID) (*item.Claim, error) {
	_, c, now, err := scanClaim(w.tx.QueryRow(w.ctx, "select "+claimColumns+" from copse.claim k where k.project_id = $1 and k.item_id = $2", w.id, int64(id)))
	switch {
	case errors.Is(err, pgx.ErrNoRows) || err == nil && c.Ended(now):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &c, nil
}

// lockItem locks the row of a live item until the end of the transaction. No other
// agent can claim the item until then.
func (w *writer) lockItem(id item.ID) error {
	var found item.ID
	err := w.tx.QueryRow(w.ctx, "select id from copse.item where project_id = $1 and id = $2 and state = 'live' for no key update", w.id, int64(id)).Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		return &item.NotFoundError{ID: id}
	}
	return err
}

// finish ends the claim of an item that is done now. The error is an [*item.HeldError] if
// another agent has it and it is not to be stolen.
func (w *writer) finish(id item.ID, steal bool) error {
	if err := w.lockItem(id); err != nil {
		return err
	}
	c, err := w.claimOf(id)
	if err != nil || c == nil {
		return err
	}
	if err := item.CheckHolder(id, c, w.by, w.now); err != nil {
		if !steal {
			return err
		}
		if err := w.logTheft(id, c); err != nil {
			return err
		}
	}
	w.endClaim(id)
	return nil
}

func (w *writer) endClaim(id item.ID) {
	w.queue("delete from copse.claim where project_id = $1 and item_id = $2", w.id, int64(id))
}

func (w *writer) logTheft(id item.ID, from *item.Claim) error {
	theft := w.entry(item.Stolen, id)
	theft.StolenFrom = from.Holder.String()
	return w.log(theft)
}

// claiming calls do in a transaction that does not lock the project.
func (s *Store) claiming(ctx context.Context, do func(*writer) error) error {
	return s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		tx, err := pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin(s.o.AnswerTime)})
		if err != nil {
			return err
		}
		defer rollBack(ctx, tx)
		w := &writer{ctx: ctx, tx: tx, by: item.AgentOf(ctx)}
		if w.project, err = s.project(ctx, tx); err != nil {
			return err
		}
		if w.rules, err = s.configOf(w.project); err != nil {
			return err
		}
		if err := do(w); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
		defer cancel()
		if err := tx.Commit(ending); err != nil {
			return err
		}
		if !w.quiet {
			s.announcer.Changed(w.id)
		}
		return nil
	})
}

// Claim is of item.Claimer.
func (s *Store) Claim(ctx context.Context, r item.ClaimRequest) (item.Claimed, error) {
	by := item.AgentOf(ctx)
	r, err := r.Check(by)
	if err != nil {
		return item.Claimed{}, err
	}
	if r.ID != 0 {
		return s.claimItem(ctx, r)
	}
	key := uuid.NewString()
	for {
		config, err := s.Config(ctx)
		if err != nil {
			return item.Claimed{}, err
		}
		all, version, err := s.snapshot(ctx)
		if err != nil {
			return item.Claimed{}, err
		}
		if err := s.noteGone(ctx, all); err != nil {
			return item.Claimed{}, err
		}
		best := all.Claimable(config)
		if len(best) == 0 {
			return item.Claimed{}, all.NothingToClaim(config)
		}
		// As many as others can be claiming at the same time.
		const most = 128
		var wanted []int64
		for _, it := range best[:min(len(best), most)] {
			wanted = append(wanted, int64(it.ID))
		}
		id, claim, err := s.take(ctx, wanted, version, key, by, r.Lease)
		if err != nil {
			return item.Claimed{}, err
		}
		if id != 0 {
			it, err := s.Item(ctx, id)
			return item.Claimed{Item: it, Claim: claim}, err
		}
		if err := ctx.Err(); err != nil {
			return item.Claimed{}, err
		}
	}
}

// take gives the agent the first of the wanted items that nobody holds or is claiming, and
// that has not changed since a version; none if there is no such item. One statement does
// all of it.
func (s *Store) take(ctx context.Context, wanted []int64, version int64, key string, by item.Agent, lease time.Duration) (id item.ID, c item.Claim, err error) {
	holder, err := json.Marshal(by)
	if err != nil {
		return 0, item.Claim{}, err
	}
	err = s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, attempt int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		p, err := s.project(ctx, pool)
		if err != nil {
			return err
		}
		if attempt > 0 { // the answer to the first attempt can have been lost
			id, c, _, err = scanClaim(pool.QueryRow(ctx, "select "+claimColumns+" from copse.claim k where k.project_id = $1 and k.key = $2", p.id, key))
			if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
		}
		id, c, _, err = scanClaim(pool.QueryRow(ctx, `with free as (
				select i.id from unnest($2::bigint[]) with ordinality as c (id, n)
				join copse.item i on i.project_id = $1 and i.id = c.id
				where i.state = 'live' and i.version <= $3 and not exists (
					select 1 from copse.claim k where k.project_id = $1 and k.item_id = i.id
					and k.expires > clock_timestamp() and (k.gone is null or k.gone > clock_timestamp() - $8 * interval '1 millisecond'))
				order by c.n limit 1 for no key update of i skip locked
			)
			insert into copse.claim as k (project_id, item_id, key, agent, host, holder, since, renewed, expires)
			select $1, free.id, $4, $5, $6, $7, t.now, t.now, t.now + $9 * interval '1 millisecond'
			from free, (select clock_timestamp() as now) t
			on conflict (project_id, item_id) do update set key = excluded.key, agent = excluded.agent, host = excluded.host,
				holder = excluded.holder, since = excluded.since, renewed = excluded.renewed, expires = excluded.expires,
				gone = null, stolen_from = ''
				where k.expires <= excluded.since or k.gone <= excluded.since - $8 * interval '1 millisecond'
			returning `+claimColumns,
			p.id, wanted, version, key, stored(by.Name), stored(by.Host), string(holder), item.ClaimGrace.Milliseconds(), lease.Milliseconds()))
		if errors.Is(err, pgx.ErrNoRows) {
			id, err = 0, nil
		}
		if id != 0 {
			s.announcer.Changed(p.id)
		}
		return err
	})
	return id, c, err
}

// claimItem gives the agent the item that it asks for.
func (s *Store) claimItem(ctx context.Context, r item.ClaimRequest) (claimed item.Claimed, err error) {
	all, _, err := s.snapshot(ctx)
	if err != nil {
		return item.Claimed{}, err
	}
	if err := s.noteGone(ctx, all); err != nil {
		return item.Claimed{}, err
	}
	err = s.claiming(ctx, func(w *writer) error {
		if err := w.lockItem(r.ID); err != nil {
			return err
		}
		it, err := loadItem(ctx, w.tx, w.id, r.ID, live)
		if err != nil {
			return err
		}
		if w.rules.Done(it.Status) {
			return &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is %s: there is nothing left to claim", r.ID, it.Status)}
		}
		old, err := w.claimOf(r.ID)
		if err != nil {
			return err
		}
		c, err := r.Take(r.ID, old, w.by, w.now.UTC())
		if err != nil {
			return err
		}
		if c.StolenFrom != "" && (old == nil || old.StolenFrom != c.StolenFrom) {
			if err := w.logTheft(r.ID, old); err != nil {
				return err
			}
		}
		claimed = item.Claimed{Item: it.Item, Claim: c}
		return w.keepClaim(r.ID, c)
	})
	return claimed, err
}

// keepClaim writes the claim of an item.
func (w *writer) keepClaim(id item.ID, c item.Claim) error {
	holder, err := json.Marshal(c.Holder)
	if err != nil {
		return err
	}
	w.queue(`insert into copse.claim (project_id, item_id, key, agent, host, holder, since, renewed, expires, stolen_from)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		on conflict (project_id, item_id) do update set key = excluded.key, agent = excluded.agent, host = excluded.host,
			holder = excluded.holder, since = excluded.since, renewed = excluded.renewed, expires = excluded.expires,
			gone = null, stolen_from = excluded.stolen_from`,
		w.id, int64(id), uuid.NewString(), stored(c.Holder.Name), stored(c.Holder.Host), string(holder), c.Since, c.Renewed, c.Expires, stored(c.StolenFrom))
	return nil
}

// noteGone notes which holders on this machine have ended.
func (s *Store) noteGone(ctx context.Context, all *item.Snapshot) error {
	var gone []int64
	for _, it := range all.Claims() {
		if c, _ := all.Claim(it.ID); c.Gone.IsZero() && c.Holder.Process.Gone() {
			gone = append(gone, int64(it.ID))
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.claiming(ctx, func(w *writer) error {
		for _, id := range gone {
			c, _ := all.Claim(item.ID(id))
			w.queue("update copse.claim set gone = clock_timestamp() where project_id = $1 and item_id = $2 and gone is null and renewed = $3", w.id, id, c.Renewed)
		}
		return nil
	})
}

// Release is of item.Claimer.
func (s *Store) Release(ctx context.Context, id item.ID, steal bool) (released item.Claim, held bool, err error) {
	err = s.claiming(ctx, func(w *writer) error {
		released, held = item.Claim{}, false
		if err := w.lockItem(id); err != nil {
			return err
		}
		c, err := w.claimOf(id)
		if err != nil || c == nil {
			return err
		}
		if err := item.CheckHolder(id, c, w.by, w.now); err != nil {
			if !steal {
				return err
			}
			if err := w.logTheft(id, c); err != nil {
				return err
			}
		}
		released, held = *c, true
		w.endClaim(id)
		return nil
	})
	return released, held, err
}

// renewEvery is how often the claims of an agent are looked at: less than a part of the
// shortest lease that is worth writing down.
const renewEvery = item.MinLease / item.RenewalsPerLease / 2

// Renew is of item.Claimer.
func (s *Store) Renew(ctx context.Context) error {
	by := item.AgentOf(ctx)
	if by.Name == "" || !s.toRenew(by) {
		return nil
	}
	due, err := s.due(ctx, by)
	if err != nil || len(due) == 0 {
		return err
	}
	return s.claiming(ctx, func(w *writer) error {
		w.quiet = true
		for _, id := range due {
			if err := w.renew(id); err != nil && !item.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
}

// due returns the items whose claims a call of the agent is worth writing down for.
func (s *Store) due(ctx context.Context, by item.Agent) (due []item.ID, err error) {
	err = s.read(ctx, func(ctx context.Context, db querier) error {
		due = nil
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		rows, err := db.Query(ctx, "select "+claimColumns+" from copse.claim k where k.project_id = $1 and k.agent = $2 and k.host = $3 and k.expires > clock_timestamp()",
			p.id, stored(by.Name), stored(by.Host))
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			id, c, now, err := scanClaim(rows)
			if err != nil {
				return err
			}
			if !c.Ended(now) && by.Continues(c.Holder) && (c.Due(now) || c.Holder != by) {
				due = append(due, id)
			}
		}
		return rows.Err()
	})
	return due, err
}

// renew notes a call of the agent in the claim of an item, if it is its own.
func (w *writer) renew(id item.ID) error {
	if err := w.lockItem(id); err != nil {
		return err
	}
	c, err := w.claimOf(id)
	if err != nil || c == nil || !w.by.Continues(c.Holder) {
		return err
	}
	return w.keepClaim(id, c.Renew(w.by, w.now.UTC(), c.Lease()))
}

// toRenew reports whether the claims of an agent were not looked at for a while, and notes
// that they are now.
func (s *Store) toRenew(by item.Agent) bool {
	const most = 1000
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.renewed[by]) < renewEvery {
		return false
	}
	if s.renewed == nil || len(s.renewed) >= most {
		s.renewed = make(map[item.Agent]time.Time)
	}
	s.renewed[by] = now
	return true
}
