package write

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Claim assigns the requested item to the agent.
func (w *Writer) Claim(r storage.ClaimRequest) (storage.Claimed, error) {
	if err := w.Project.Moved.Err(); err != nil {
		return storage.Claimed{}, err
	}
	if err := w.lockItem(r.ID); err != nil {
		return storage.Claimed{}, err
	}
	it, err := row.FindItem(w.ctx, w.tx, w.Project.ID, r.ID, row.Live)
	if err != nil {
		return storage.Claimed{}, err
	}
	if w.Rules.Done(it.Status) {
		return storage.Claimed{}, &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is %s: there is nothing left to claim", r.ID, it.Status)}
	}
	old, err := w.claimOf(r.ID)
	if err != nil {
		return storage.Claimed{}, err
	}
	c, err := r.Take(r.ID, old, w.by, w.Project.Now.UTC())
	if err != nil {
		return storage.Claimed{}, err
	}
	if c.StolenFrom != "" && (old == nil || old.StolenFrom != c.StolenFrom) {
		if err := w.logTheft(r.ID, old); err != nil {
			return storage.Claimed{}, err
		}
	}
	return storage.Claimed{Item: it.Item, Claim: c}, w.keepClaim(r.ID, c)
}

// Release ends the claim of an item, and returns it. held is false if there is none.
func (w *Writer) Release(id item.ID, steal bool) (released claim.Claim, held bool, err error) {
	if err := w.lockItem(id); err != nil {
		return claim.Claim{}, false, err
	}
	c, err := w.claimOf(id)
	if err != nil || c == nil {
		return claim.Claim{}, false, err
	}
	if err := storage.CheckHolder(id, c, w.by, w.Project.Now); err != nil {
		if !steal {
			return claim.Claim{}, false, err
		}
		if err := w.logTheft(id, c); err != nil {
			return claim.Claim{}, false, err
		}
	}
	w.endClaim(id)
	return *c, true, nil
}

// claimOf returns the claim of an item, nil if there is no valid one.
func (w *Writer) claimOf(id item.ID) (*claim.Claim, error) {
	_, c, now, err := row.ScanClaim(w.tx.QueryRow(w.ctx, "select "+row.ClaimColumns()+" from copse.claim k where k.project_id = $1 and k.item_id = $2", w.Project.ID, int64(id)))
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
func (w *Writer) lockItem(id item.ID) error {
	var found item.ID
	err := w.tx.QueryRow(w.ctx, "select id from copse.item where project_id = $1 and id = $2 and state = 'live' for no key update", w.Project.ID, int64(id)).Scan(&found)
	if errors.Is(err, pgx.ErrNoRows) {
		return &item.NotFoundError{ID: id}
	}
	return err
}

// finish ends the claim of an item that is done or deleted now. The error is an
// [*storage.HeldError] if another agent has it and it is not to be stolen.
func (w *Writer) finish(id item.ID, steal bool) error {
	if err := w.lockItem(id); err != nil {
		return err
	}
	if err := w.checkHolder(id, steal); err != nil {
		return err
	}
	w.endClaim(id)
	return nil
}

// checkHolder returns a [*storage.HeldError] if another agent holds an item, whose row is locked.
// With steal, it ends that claim instead, and the history records the holder.
func (w *Writer) checkHolder(id item.ID, steal bool) error {
	if w.freed == id {
		return nil
	}
	c, err := w.claimOf(id)
	if err != nil {
		return err
	}
	held := storage.CheckHolder(id, c, w.by, w.Project.Now)
	if held == nil || !steal {
		return held
	}
	w.freed = id
	w.endClaim(id)
	return w.logTheft(id, c)
}

func (w *Writer) endClaim(id item.ID) {
	w.queue("delete from copse.claim where project_id = $1 and item_id = $2", w.Project.ID, int64(id))
}

func (w *Writer) logTheft(id item.ID, from *claim.Claim) error {
	theft := w.entry(changes.Stolen, id)
	theft.StolenFrom = from.Holder.String()
	return w.log(theft)
}

// keepClaim writes the claim of an item.
func (w *Writer) keepClaim(id item.ID, c claim.Claim) error {
	holder, err := json.Marshal(c.Holder)
	if err != nil {
		return err
	}
	w.queue(`insert into copse.claim (project_id, item_id, key, agent, host, holder, since, renewed, expires, stolen_from)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
		on conflict (project_id, item_id) do update set key = excluded.key, agent = excluded.agent, host = excluded.host,
			holder = excluded.holder, since = excluded.since, renewed = excluded.renewed, expires = excluded.expires,
			gone = null, stolen_from = excluded.stolen_from`,
		w.Project.ID, int64(id), uuid.NewString(), sqltext.Encode(c.Holder.Name), sqltext.Encode(c.Holder.Host), string(holder), c.Since, c.Renewed, c.Expires, sqltext.Encode(c.StolenFrom))
	return nil
}

// MarkGone records that the holder of a claim has ended, unless the claim has been renewed since.
func (w *Writer) MarkGone(id item.ID, c claim.Claim) {
	w.queue("update copse.claim set gone = pg_catalog.clock_timestamp() where project_id = $1 and item_id = $2 and gone is null and renewed = $3", w.Project.ID, int64(id), c.Renewed)
}

// Renew records a call of the agent in the claim of an item, if the claim is the agent's.
func (w *Writer) Renew(id item.ID) error {
	if err := w.lockItem(id); err != nil {
		return err
	}
	c, err := w.claimOf(id)
	if err != nil || c == nil || !w.by.Shares(c.Holder) {
		return err
	}
	return w.keepClaim(id, c.Renew(w.by, w.Project.Now.UTC()))
}
