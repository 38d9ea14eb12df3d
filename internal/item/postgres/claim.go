package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
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
	c.StolenFrom = sqltext.Decode(c.StolenFrom)
	for _, at := range []*time.Time{&c.Since, &c.Renewed, &c.Expires, &now} {
		*at = at.UTC()
	}
	if gone != nil {
		c.Gone = gone.UTC()
	}
	return id, c, now, nil
}

// scanClaims reads rows of claimColumns, and returns the claims that count.
func scanClaims(rows pgx.Rows) (map[item.ID]item.Claim, error) {
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

// finish ends the claim of an item that is done or deleted now. The error is an
// [*item.HeldError] if another agent has it and it is not to be stolen.
func (w *writer) finish(id item.ID, steal bool) error {
	if err := w.lockItem(id); err != nil {
		return err
	}
	if err := w.checkHolder(id, steal); err != nil {
		return err
	}
	w.endClaim(id)
	return nil
}

// checkHolder returns an [*item.HeldError] if another agent holds an item, whose row is locked.
// With steal, it ends that claim instead, and the history records the holder.
func (w *writer) checkHolder(id item.ID, steal bool) error {
	if w.freed == id {
		return nil
	}
	c, err := w.claimOf(id)
	if err != nil {
		return err
	}
	held := item.CheckHolder(id, c, w.by, w.now)
	if held == nil || !steal {
		return held
	}
	w.freed = id
	w.endClaim(id)
	return w.logTheft(id, c)
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

// Claim implements [item.Claimer].
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
	if err := s.noteGoneAtTimes(ctx); err != nil {
		return item.Claimed{}, err
	}
	for attempt := 0; ; attempt++ {
		wanted, err := s.best(ctx, attempt)
		if err != nil {
			return item.Claimed{}, err
		}
		got, err := s.take(ctx, wanted, key, by, r.Lease)
		if err != nil {
			return item.Claimed{}, err
		}
		if got.Item.ID != 0 {
			s.noteDepth(wanted, got.Item.ID)
			return got, nil
		}
		if err := ctx.Err(); err != nil {
			return item.Claimed{}, err
		}
	}
}

// quick is how many attempts to claim use what is known. An attempt fails if another agent gets
// the same item at the same moment; the next one sees that.
const quick = 3

// wanted are items to take one of, the best first.
type wanted struct {
	ids     []int64
	project int64
	version int64
	// only means that the change stops if the project has changed since the version.
	only bool
}

// best returns the items that an agent may take. They are those that would be best if nobody
// held any, because the server knows best who holds one. The first attempts may use what was
// read for an earlier call, as long as the project has not changed. Later ones look further,
// and at what the project has now. If there is nothing to take, the error says so.
func (s *Store) best(ctx context.Context, attempt int) (wanted, error) {
	c := &s.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	if attempt >= quick || c.best == nil {
		config, held, err := s.refresh(ctx)
		if err != nil {
			return wanted{}, err
		}
		if err := c.moved.Err(); err != nil {
			return wanted{}, err
		}
		all := c.all.WithClaims(held)
		if c.best == nil {
			c.best = []int64{}
			for _, it := range c.all.WithClaims(nil).Claimable(config) {
				c.best = append(c.best, int64(it.ID))
			}
		}
		if attempt >= quick {
			c.depth = max(2*c.depth, len(held))
			if !slices.ContainsFunc(c.best, func(id int64) bool { _, taken := held[item.ID(id)]; return !taken }) {
				if err := s.noteGone(ctx, all); err != nil {
					return wanted{}, err
				}
				return wanted{}, all.NothingToClaim(config)
			}
		}
	}
	const some = 128
	return wanted{c.best[:min(len(c.best), 2*c.depth+some)], c.project, c.version, attempt < quick}, nil
}

// noteDepth notes how many better items than the one that an agent took were held.
func (s *Store) noteDepth(w wanted, id item.ID) {
	c := &s.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	c.depth = max(slices.Index(w.ids, int64(id)), c.depth*7/8)
}

// take gives the agent the first of the wanted items that nobody holds or is claiming, and
// that has not changed since their version; none if there is no such item. One statement does
// all of it, and looks at no item after the first that is free.
func (s *Store) take(ctx context.Context, w wanted, key string, by item.Agent, lease time.Duration) (got item.Claimed, err error) {
	holder, err := json.Marshal(by)
	if err != nil {
		return item.Claimed{}, err
	}
	err = s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, attempt int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		if attempt > 0 { // the answer to the first attempt can have been lost
			got, err = scanClaimed(pool.QueryRow(ctx, "select "+claimColumns+", "+wholeColumns+`
				from copse.claim k join copse.item i on i.project_id = k.project_id and i.id = k.item_id where k.project_id = $1 and k.key = $2`, w.project, key))
			if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
		}
		err = often(ctx, pool, func(r pgx.Row) error {
			got, err = scanClaimed(r)
			return err
		}, takeStatement, w.project, w.ids, w.version, key, sqltext.Encode(by.Name), sqltext.Encode(by.Host), string(holder), item.ClaimGrace.Milliseconds(), lease.Milliseconds(), w.only)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err == nil:
			s.announcer.Changed(w.project)
		}
		return err
	})
	return got, err
}

// scanClaimed reads claimColumns and wholeColumns.
func scanClaimed(r pgx.Row) (item.Claimed, error) {
	var of whole
	_, c, _, err := scanClaim(withMore(r, of.fields()...))
	if err != nil {
		return item.Claimed{}, err
	}
	return item.Claimed{Item: of.decode().Item, Claim: c}, nil
}

// takeStatement is the statement of [Store.take]. It leaves out the items that somebody holds
// before it looks at any of the others.
const takeStatement = `with free as (
		select f.id from (
			select c.id from unnest($2::bigint[]) with ordinality as c (id, place)
			where not exists (select 1 from copse.claim k where k.project_id = $1 and k.item_id = c.id
				and k.expires > clock_timestamp() and (k.gone is null or k.gone > clock_timestamp() - $8 * interval '1 millisecond'))
			order by c.place
		) c cross join lateral (
			select i.id from copse.item i
			where i.project_id = $1 and i.id = c.id and i.state = 'live' and i.version <= $3
			for no key update of i skip locked
		) f
		where exists (select 1 from copse.project p where p.id = $1 and p.moved = '' and (not $10 or p.version = $3))
		limit 1
	), taken as (
		insert into copse.claim as k (project_id, item_id, key, agent, host, holder, since, renewed, expires)
		select $1, free.id, $4, $5, $6, $7, t.now, t.now, t.now + $9 * interval '1 millisecond'
		from free, (select clock_timestamp() as now) t
		on conflict (project_id, item_id) do update set key = excluded.key, agent = excluded.agent, host = excluded.host,
			holder = excluded.holder, since = excluded.since, renewed = excluded.renewed, expires = excluded.expires,
			gone = null, stolen_from = ''
			where k.expires <= excluded.since or k.gone <= excluded.since - $8 * interval '1 millisecond'
		returning k.*
	)
	select ` + claimColumns + ", " + wholeColumns + processColumn + " from taken k join copse.item i on i.project_id = k.project_id and i.id = k.item_id"

// claimItem gives the agent the item that it asks for.
func (s *Store) claimItem(ctx context.Context, r item.ClaimRequest) (claimed item.Claimed, err error) {
	all, err := s.Snapshot(ctx)
	if err != nil {
		return item.Claimed{}, err
	}
	if err := s.noteGone(ctx, all); err != nil {
		return item.Claimed{}, err
	}
	err = s.claiming(ctx, func(w *writer) error {
		if err := w.moved.Err(); err != nil {
			return err
		}
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
		w.id, int64(id), uuid.NewString(), sqltext.Encode(c.Holder.Name), sqltext.Encode(c.Holder.Host), string(holder), c.Since, c.Renewed, c.Expires, sqltext.Encode(c.StolenFrom))
	return nil
}

// lookForGone is how often an agent that claims looks for holders on its machine that have
// ended, if it gets something without.
const lookForGone = 5 * time.Second

// noteGoneAtTimes is noteGone, once in a while.
func (s *Store) noteGoneAtTimes(ctx context.Context) error {
	s.mu.Lock()
	due := time.Since(s.goneAt) >= lookForGone
	if due {
		s.goneAt = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return nil
	}
	all, err := s.Snapshot(ctx)
	if err != nil {
		return err
	}
	return s.noteGone(ctx, all)
}

// noteGone notes which holders on this machine have ended.
func (s *Store) noteGone(ctx context.Context, all *item.Snapshot) error {
	find := item.HolderCheck{By: item.AgentOf(ctx), Now: time.Now()}
	gone := map[item.ID]item.Claim{}
	for _, it := range all.Claims() {
		if c, _ := all.Claim(it.ID); find.Mark(c) != c {
			gone[it.ID] = c
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.claiming(ctx, func(w *writer) error {
		for id, c := range gone {
			w.markGone(id, c)
		}
		return nil
	})
}

// markGone notes that the holder of a claim has ended, unless the claim was renewed since.
func (w *writer) markGone(id item.ID, c item.Claim) {
	w.queue("update copse.claim set gone = clock_timestamp() where project_id = $1 and item_id = $2 and gone is null and renewed = $3", w.id, int64(id), c.Renewed)
}

// Release implements [item.Claimer].
func (s *Store) Release(ctx context.Context, id item.ID, steal bool) (released item.Claim, held bool, err error) {
	if released, held, err = s.giveBack(ctx, id); held || err != nil {
		return released, held, err
	}
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

// giveBack ends the claim that the agent has of an item, in one statement. held is false if it
// has none, and if its claim may have ended or is that of a process that it continues.
func (s *Store) giveBack(ctx context.Context, id item.ID) (mine item.Claim, held bool, err error) {
	holder, err := json.Marshal(item.AgentOf(ctx))
	if err != nil {
		return item.Claim{}, false, err
	}
	lost := false // an answer
	err = s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		var project int64
		err = often(ctx, pool, func(r pgx.Row) error {
			_, mine, _, err = scanClaim(withMore(r, &project))
			return err
		}, giveBackStatement, sqltext.Encode(name), int64(id), string(holder))
		held = err == nil
		switch {
		case held:
			s.announcer.Changed(project)
		case errors.Is(err, pgx.ErrNoRows):
			held = lost
			return nil
		case sqlerror.Lost(err) && !sqlerror.Connecting(err):
			lost = true
		}
		return err
	})
	return mine, held && err == nil, err
}

// giveBackStatement is the statement of [Store.giveBack].
const giveBackStatement = `delete from copse.claim k using copse.project p
	where p.name = $1 and k.project_id = p.id and k.item_id = $2 and k.holder = $3 and k.gone is null and k.expires > clock_timestamp()
	returning ` + claimColumns + ", k.project_id" + processColumn

// more is a row with more columns than scanClaim reads.
type more struct {
	pgx.Row
	into []any
}

func withMore(r pgx.Row, into ...any) pgx.Row { return more{r, into} }

func (m more) Scan(into ...any) error { return m.Row.Scan(append(into, m.into...)...) }

// renewEvery is how often the claims of an agent are looked at: less than a part of the
// shortest lease that is worth writing down.
const renewEvery = item.MinLease / item.RenewalsPerLease / 2

// Renew implements [item.Claimer].
func (s *Store) Renew(ctx context.Context) error {
	by := item.AgentOf(ctx)
	if by.Name == "" || !s.toRenew(by) {
		return nil
	}
	// A call that renews waits for the database itself, and need not wait as long before.
	ctx, cancel := context.WithTimeout(ctx, s.o.Patience/2)
	defer cancel()
	due, gone, err := s.due(ctx, by)
	if err != nil || len(due)+len(gone) == 0 {
		return err
	}
	return s.claiming(ctx, func(w *writer) error {
		w.quiet = true
		for _, id := range due {
			if err := w.renew(id); err != nil && !item.IsNotFound(err) {
				return err
			}
		}
		for id, c := range gone {
			w.markGone(id, c)
		}
		return nil
	})
}

// due returns the items whose claims a call of the agent is worth writing down for, and the
// claims of its machine whose holder has ended.
func (s *Store) due(ctx context.Context, by item.Agent) (due []item.ID, gone map[item.ID]item.Claim, err error) {
	err = s.read(ctx, func(ctx context.Context, db querier) error {
		due, gone = nil, map[item.ID]item.Claim{}
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		rows, err := db.Query(ctx, "select "+claimColumns+` from copse.claim k
			where k.project_id = $1 and k.host = $2 and k.expires > clock_timestamp() and (k.agent = $3 or k.gone is null)`,
			p.id, sqltext.Encode(by.Host), sqltext.Encode(by.Name))
		if err != nil {
			return err
		}
		defer rows.Close()
		find := item.HolderCheck{By: by, Now: time.Now()}
		for rows.Next() {
			id, c, now, err := scanClaim(rows)
			switch {
			case err != nil:
				return err
			case c.Ended(now):
			case by.Shares(c.Holder):
				if c.Due(by, now) {
					due = append(due, id)
				}
			case find.Mark(c) != c:
				gone[id] = c
			}
		}
		return rows.Err()
	})
	return due, gone, err
}

// renew notes a call of the agent in the claim of an item, if it is its own.
func (w *writer) renew(id item.ID) error {
	if err := w.lockItem(id); err != nil {
		return err
	}
	c, err := w.claimOf(id)
	if err != nil || c == nil || !w.by.Shares(c.Holder) {
		return err
	}
	return w.keepClaim(id, c.Renew(w.by, w.now.UTC()))
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
