package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// held is the claims of a project as of the last look.
type held struct {
	claims map[item.ID]claim.Claim // the valid ones; never changed once it is given out
	until  time.Time               // the first of them ends, by the clock of the database
	state  string                  // the project, and what row.SelectClaimState returned; "" if unknown
}

// fewClaims are so few that they cost no more than the question whether they have changed.
const fewClaims = 128

// look returns the project and the valid claims, which are at least as new. Few claims come
// in the same exchange with the server. Of many, the server is asked whether they have changed.
func (s *Store) look(ctx context.Context, db *pgxpool.Pool) (p row.Project, claims map[item.ID]claim.Claim, err error) {
	if p.Name, err = s.name(); err != nil {
		return p, nil, err
	}
	h, name := &s.cached.held, sqltext.Encode(p.Name)
	many := len(h.claims) > fewClaims
	var both pgx.Batch
	both.Queue(row.SelectProject(), name)
	if many {
		both.Queue(row.SelectClaimState, name)
	} else {
		both.Queue(row.SelectClaims(), name)
	}
	results := db.SendBatch(ctx, &both)
	defer results.Close()
	if err := p.Scan(results.QueryRow()); err != nil {
		return p, nil, err
	}
	if !many {
		rows, err := results.Query()
		if err != nil {
			return p, nil, err
		}
		claims, err := h.read(rows, "")
		return p, claims, err
	}
	var state string
	if err := results.QueryRow().Scan(&state); err != nil {
		return p, nil, err
	}
	state = p.Name + ": " + state
	if state == h.state && p.Now.Before(h.until) {
		return p, h.claims, nil
	}
	if err := results.Close(); err != nil {
		return p, nil, err
	}
	rows, err := db.Query(ctx, row.SelectClaims(), name)
	if err != nil {
		return p, nil, err
	}
	claims, err = h.read(rows, state)
	return p, claims, err
}

// read keeps the claims of rows, whose state is that or a newer one.
func (h *held) read(rows pgx.Rows, state string) (map[item.ID]claim.Claim, error) {
	*h = held{}
	claims, err := row.ScanClaims(rows)
	if err != nil {
		return nil, err
	}
	h.claims, h.state = claims, state
	for _, c := range claims {
		if end := c.End(); h.until.IsZero() || end.Before(h.until) {
			h.until = end
		}
	}
	return claims, nil
}
