package row

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/storage"
)

// ClaimColumns returns the columns of [ScanClaim], of the table with the alias k. Times that no copse
// wrote, such as infinity, are brought into a range that every program can show.
func ClaimColumns() string {
	return "k.item_id, " + texts("k.holder") + clamp + "k.since" + clamped + clamp + "k.renewed" + clamped + clamp + "k.expires" + clamped +
		", case when k.gone is not null then least(greatest(k.gone" + clamped + " end, " + texts("k.stolen_from") + ", pg_catalog.clock_timestamp()"
}

const (
	clamp   = ", least(greatest("
	clamped = ", pg_catalog.clock_timestamp() - interval '1000 years'), pg_catalog.clock_timestamp() + interval '1000 years')"
)

// ClaimedColumns returns the columns of [ScanClaimed]: the claim k, and the item i.
func ClaimedColumns() string { return ClaimColumns() + ", " + commentedColumns() }

// ScanClaim reads [ClaimColumns]: the claim of an item, and the time of the database. A holder that
// nobody can read is an unknown one.
func ScanClaim(r pgx.Row) (id item.ID, c claim.Claim, now time.Time, err error) {
	var holder string
	var gone *time.Time
	if err := r.Scan(&id, &holder, &c.Since, &c.Renewed, &c.Expires, &gone, &c.StolenFrom, &now); err != nil {
		return 0, claim.Claim{}, now, err
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

// ScanClaims reads rows of [ClaimColumns], and returns the valid claims.
func ScanClaims(rows pgx.Rows) (map[item.ID]claim.Claim, error) {
	defer rows.Close()
	found := map[item.ID]claim.Claim{}
	for rows.Next() {
		id, c, now, err := ScanClaim(rows)
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

// ScanClaimed reads [ClaimedColumns].
func ScanClaimed(r pgx.Row) (storage.Claimed, error) {
	var of commented
	_, c, _, err := ScanClaim(sqltext.WithMore(r, of.fields()...))
	if err != nil {
		return storage.Claimed{}, err
	}
	return storage.Claimed{Item: of.decode().Item, Claim: c}, nil
}

// FindClaimed returns the item that was claimed with a key.
func FindClaimed(ctx context.Context, db Querier, project int64, key string) (storage.Claimed, error) {
	return ScanClaimed(db.QueryRow(ctx, "select "+ClaimedColumns()+`
		from copse.claim k join copse.item i on i.project_id = k.project_id and i.id = k.item_id where k.project_id = $1 and k.key = $2`, project, key))
}
