package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// preparations counts the statements that connections prepare.
type preparations struct{ atomic.Int64 }

func (p *preparations) TracePrepareStart(ctx context.Context, _ *pgx.Conn, _ pgx.TracePrepareStartData) context.Context {
	p.Add(1)
	return ctx
}

func (*preparations) TracePrepareEnd(context.Context, *pgx.Conn, pgx.TracePrepareEndData) {}

func (*preparations) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*preparations) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// The statements of claims are prepared once where the connection goes straight to the server, and
// never behind a pooler. A session that lost them costs no claim.
func TestPrepared(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	const items = 20
	at := server.Address(database)
	for name, c := range map[string]struct {
		at        string
		forgets   bool
		few, most int64
	}{
		"straight":  {at: at, few: 2, most: 8}, // two statements, on up to four connections
		"pooler":    {at: server.Pooler(t, database)},
		"forgetful": {at: at, forgets: true, few: 1, most: 8},
	} {
		t.Run(name, func(t *testing.T) {
			var prepared preparations
			makeProject(t, at, name)
			s := openWith(t, c.at, name, func(config *pgxpool.Config) {
				config.ConnConfig.Tracer = &prepared
				config.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (bool, error) {
					if c.forgets {
						_, err := conn.Exec(ctx, "deallocate all")
						return true, err
					}
					return true, nil
				}
			})
			ctx := claim.WithAgent(t.Context(), itemtest.Agent("ada"))
			for range items {
				if _, err := s.Create(ctx, item.Draft{Title: "x"}); err != nil {
					t.Fatal(err)
				}
			}
			got := map[item.ID]bool{}
			for range items {
				taken, err := s.Claim(ctx, storage.ClaimRequest{})
				if err != nil {
					t.Fatal(err)
				}
				got[taken.Item.ID] = true
			}
			for id := range got {
				if _, was, err := s.Release(ctx, id, false); !was || err != nil {
					t.Errorf("release %d: %v, %v", id, was, err)
				}
			}
			if n := prepared.Load(); len(got) != items || n < c.few || n > c.most {
				t.Errorf("%d of %d items were claimed with %d preparations", len(got), items, n)
			}
		})
	}
}
