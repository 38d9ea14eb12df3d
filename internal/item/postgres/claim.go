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
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/backoff"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/postgres/taking"
	"github.com/copse-dev/copse/internal/item/postgres/write"
	"github.com/copse-dev/copse/internal/item/storage"
)

// claiming calls do in a transaction that does not lock the project, and returns the number of the
// project. It notes a key, so that a canceled call can find out whether the change was made.
func (s *Store) claiming(ctx context.Context, do func(*write.Writer) error) (project int64, err error) {
	key := uuid.NewString()
	search := func(ctx context.Context, tx pgx.Tx) (bool, error) { return write.Made(ctx, tx, project, key) }
	return s.writing(ctx, search, func(w *write.Writer) error {
		project = w.Project.ID
		w.Note(key, 0)
		return do(w)
	})
}

// writing is claiming without a key, for what no caller asked for. search can be nil.
func (s *Store) writing(ctx context.Context, search connection.Search, do func(*write.Writer) error) (project int64, err error) {
	err = s.db.Transaction(ctx, 0, search, func(ctx context.Context, tx pgx.Tx, _ bool) error {
		name, err := s.name()
		if err != nil {
			return err
		}
		w, err := write.Open(ctx, tx, name)
		if err != nil {
			return err
		}
		if w.Rules, err = s.configOf(w.Project); err != nil {
			return err
		}
		project = w.Project.ID
		if err := do(w); err != nil {
			return err
		}
		return w.Flush()
	})
	return project, err
}

// announced announces a change of claims that did not fail.
func (s *Store) announced(project int64, err error) error {
	if err == nil {
		s.announcer.Changed(project)
	}
	return err
}

// Claim implements [storage.Claimer].
func (s *Store) Claim(ctx context.Context, r storage.ClaimRequest) (storage.Claimed, error) {
	by := claim.AgentOf(ctx)
	r, err := r.Check(by)
	if err != nil {
		return storage.Claimed{}, err
	}
	if r.ID != 0 {
		return s.claimItem(ctx, r)
	}
	key := uuid.NewString()
	if err := s.noteGoneAtTimes(ctx); err != nil {
		return storage.Claimed{}, err
	}
	pauses := connection.Locked()
	for attempt := 0; ; attempt++ {
		if attempt >= quick {
			if err := s.db.AwaitOther(ctx, pauses); err != nil {
				return storage.Claimed{}, s.obstacle(ctx, err)
			}
		}
		wanted, err := s.best(ctx, attempt)
		if err != nil {
			return storage.Claimed{}, err
		}
		got, err := s.take(ctx, wanted, key, by, r.Lease)
		if err != nil {
			return storage.Claimed{}, err
		}
		if got.Item.ID != 0 {
			s.noteDepth(wanted, got.Item.ID)
			return got, nil
		}
		if err := ctx.Err(); err != nil {
			return storage.Claimed{}, err
		}
	}
}

// quick is how many attempts to claim use what is known. An attempt fails if another agent gets
// the same item at the same moment; the next one sees that.
const quick = 3

// best returns the items that an agent may take. They are those that would be best if nobody
// held any, because the server knows best who holds one. The first attempts may use what was
// read for an earlier call, as long as the project has not changed. Later ones look further,
// and at what the project has now. If there is nothing to take, the error says so.
func (s *Store) best(ctx context.Context, attempt int) (taking.Wanted, error) {
	c := &s.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	if attempt >= quick || c.best == nil {
		config, held, err := s.refresh(ctx)
		if err != nil {
			return taking.Wanted{}, err
		}
		if err := c.moved.Err(); err != nil {
			return taking.Wanted{}, err
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
					return taking.Wanted{}, err
				}
				return taking.Wanted{}, all.NothingToClaim(config)
			}
		}
	}
	const some = 128
	return taking.Wanted{IDs: c.best[:min(len(c.best), 2*c.depth+some)], Project: c.project, Version: c.version, Only: attempt < quick}, nil
}

// noteDepth notes how many better items than the one that an agent took were held.
func (s *Store) noteDepth(w taking.Wanted, id item.ID) {
	c := &s.cached
	c.mu.Lock()
	defer c.mu.Unlock()
	c.depth = max(slices.Index(w.IDs, int64(id)), c.depth*7/8)
}

// take gives the agent the first of the wanted items that nobody holds or is claiming, and
// that has not changed since their version; none if there is no such item. One statement does
// all of it, and looks at no item after the first that is free.
func (s *Store) take(ctx context.Context, w taking.Wanted, key string, by claim.Agent, lease time.Duration) (got storage.Claimed, err error) {
	args, err := w.Args(key, by, lease)
	if err != nil {
		return storage.Claimed{}, err
	}
	again, sent := false, false
	var session connection.Session
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		if again { // the answer to the first attempt can have been lost
			got, err = row.FindClaimed(ctx, db, w.Project, key)
			if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
		}
		again = true
		session, err = connection.Often(ctx, db, func(r pgx.Row) error {
			sent = true
			got, err = row.ScanClaimed(r)
			return err
		}, taking.Take(), args...)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err == nil:
			s.announcer.Changed(w.Project)
		}
		return err
	})
	if err != nil && sent && ctx.Err() != nil {
		return s.takenBefore(ctx, w.Project, key, session, err)
	}
	return got, err
}

// takenBefore returns the item that a canceled call has claimed with a key in a session. While the
// session may still run the statement, a key that does not appear means that the outcome is unknown.
func (s *Store) takenBefore(ctx context.Context, project int64, key string, session connection.Session, canceled error) (got storage.Claimed, err error) {
	made, err := s.db.Search(ctx, func(ctx context.Context, tx pgx.Tx) (bool, error) {
		for pauses := connection.Locked(); ; {
			ended, err := session.Ended(ctx, tx)
			if err != nil {
				return false, err
			}
			switch got, err = row.FindClaimed(ctx, tx, project, key); {
			case !errors.Is(err, pgx.ErrNoRows):
				return err == nil, err
			case ended:
				return false, nil
			}
			if err := pauses.Pause(ctx, backoff.Unlimited); err != nil {
				return false, err
			}
		}
	})
	switch {
	case err != nil:
		return storage.Claimed{}, sqlerror.ErrUnknown("List the items to see which ones you hold before you claim another.", canceled)
	case !made:
		return storage.Claimed{}, canceled
	}
	s.announcer.Changed(project)
	return got, nil
}

// obstacle returns why no free item could be locked until the error. Only another program writes an item
// with a version above that of its project, which no claim of the best item takes.
func (s *Store) obstacle(ctx context.Context, err error) error {
	var id item.ID
	failed := s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		name, err := s.name()
		if err == nil {
			id, err = row.Ahead(ctx, db, name)
		}
		return err
	})
	if failed != nil {
		return err
	}
	return &storage.StoreError{
		Problem: fmt.Sprintf("another program has written work item #%d with a version above that of its project", id),
		Next:    "Nothing was claimed. Change a field of the item, which corrects its version, and try again.",
	}
}

// claimItem assigns the requested item to the agent.
func (s *Store) claimItem(ctx context.Context, r storage.ClaimRequest) (claimed storage.Claimed, err error) {
	all, err := s.Snapshot(ctx)
	if err != nil {
		return storage.Claimed{}, err
	}
	if err := s.noteGone(ctx, all); err != nil {
		return storage.Claimed{}, err
	}
	err = s.announced(s.claiming(ctx, func(w *write.Writer) error {
		claimed, err = w.Claim(r)
		return err
	}))
	return claimed, err
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
	find := claim.HolderCheck{By: claim.AgentOf(ctx), Now: time.Now(), Worktrees: s.worktrees}
	gone := map[item.ID]claim.Claim{}
	for _, it := range all.Claims() {
		if c, _ := all.Claim(it.ID); find.Mark(c) != c {
			gone[it.ID] = c
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return s.announced(s.writing(ctx, nil, func(w *write.Writer) error {
		for id, c := range gone {
			w.MarkGone(id, c)
		}
		return nil
	}))
}

// Release implements [storage.Claimer].
func (s *Store) Release(ctx context.Context, id item.ID, steal bool) (released claim.Claim, held bool, err error) {
	if released, held, err = s.giveBack(ctx, id); held || err != nil {
		return released, held, err
	}
	err = s.announced(s.claiming(ctx, func(w *write.Writer) error {
		released, held, err = w.Release(id, steal)
		return err
	}))
	return released, held, err
}

// giveBack ends the claim that the agent has of an item, in one statement. held is false if it
// has none, and if its claim may have ended or is that of a process that it continues.
func (s *Store) giveBack(ctx context.Context, id item.ID) (mine claim.Claim, held bool, err error) {
	holder, err := json.Marshal(claim.AgentOf(ctx))
	if err != nil {
		return claim.Claim{}, false, err
	}
	lost, sent := false, false // an answer, the statement
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		name, err := s.name()
		if err != nil {
			return err
		}
		var project int64
		_, err = connection.Often(ctx, db, func(r pgx.Row) error {
			sent = true
			_, mine, _, err = row.ScanClaim(sqltext.WithMore(r, &project))
			return err
		}, taking.GiveBack(), sqltext.Encode(name), int64(id), string(holder))
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
	if err != nil && sent && ctx.Err() != nil {
		err = sqlerror.ErrUnknown("Release the item again; that is safe.", err)
	}
	return mine, held && err == nil, err
}

// renewEvery is how often the claims of an agent are looked at: less than a part of the
// shortest lease that is worth writing down.
const renewEvery = claim.MinLease / claim.RenewalsPerLease / 2

// Renew implements [storage.Claimer].
func (s *Store) Renew(ctx context.Context) error {
	by := claim.AgentOf(ctx)
	if by.Name == "" || !s.toRenew(by) {
		return nil
	}
	// A call that renews waits for the database itself, and need not wait as long before.
	ctx, cancel := context.WithTimeout(ctx, s.db.Patience()/2)
	defer cancel()
	due, gone, err := s.due(ctx, by)
	if err != nil || len(due)+len(gone) == 0 {
		return err
	}
	_, err = s.writing(ctx, nil, func(w *write.Writer) error { // nobody needs to know of it at once
		for _, id := range due {
			if err := w.Renew(id); err != nil && !item.IsNotFound(err) {
				return err
			}
		}
		for id, c := range gone {
			w.MarkGone(id, c)
		}
		return nil
	})
	return err
}

// due returns the items whose claims a call of the agent is worth writing down for, and the
// claims of its machine whose holder has ended.
func (s *Store) due(ctx context.Context, by claim.Agent) (due []item.ID, gone map[item.ID]claim.Claim, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		due, gone = nil, map[item.ID]claim.Claim{}
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		rows, err := db.Query(ctx, "select "+row.ClaimColumns()+` from copse.claim k
			where k.project_id = $1 and k.host = $2 and k.expires > pg_catalog.clock_timestamp() and (k.agent = $3 or k.gone is null)`,
			p.ID, sqltext.Encode(by.Host), sqltext.Encode(by.Name))
		if err != nil {
			return err
		}
		defer rows.Close()
		find := claim.HolderCheck{By: by, Now: time.Now(), Worktrees: s.worktrees}
		for rows.Next() {
			id, c, now, err := row.ScanClaim(rows)
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

// toRenew reports whether the claims of an agent were not looked at for a while, and notes
// that they are now.
func (s *Store) toRenew(by claim.Agent) bool {
	const maxRenewed = 1000
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.renewed[by]) < renewEvery {
		return false
	}
	if s.renewed == nil || len(s.renewed) >= maxRenewed {
		s.renewed = make(map[claim.Agent]time.Time)
	}
	s.renewed[by] = now
	return true
}
