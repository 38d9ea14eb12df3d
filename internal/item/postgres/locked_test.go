package postgres_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// queries counts the statements that connections run.
type queries struct{ atomic.Int64 }

func (q *queries) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	q.Add(1)
	return ctx
}

func (*queries) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// A claim of the best item waits for a transaction that holds all free items, with few statements and
// not for long.
func TestClaimOfLockedItems(t *testing.T) {
	t.Parallel()
	_, at := postgrestest.Shared(t)
	makeProject(t, at, nameOf(t))
	var ran queries
	s := postgres.New(postgres.Options{
		Database: connection.Options{Patience: 300 * time.Millisecond, Config: func() (*pgxpool.Config, error) {
			config, err := pgxpool.ParseConfig(at)
			if err == nil {
				config.ConnConfig.Tracer = &ran
			}
			return config, err
		}},
		Project: func() (string, error) { return nameOf(t), nil },
	})
	defer s.Close()
	ctx, cancel := context.WithTimeout(claim.WithAgent(t.Context(), itemtest.Agent("ada")), 3*time.Second)
	defer cancel()
	if _, err := s.Create(ctx, item.Draft{Title: "locked"}); err != nil {
		t.Fatal(err)
	}
	other, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(context.WithoutCancel(ctx))
	if _, err := other.Exec(ctx, "begin; update copse.item set title = title where project_id = (select id from copse.project where name = '"+nameOf(t)+"')"); err != nil {
		t.Fatal(err)
	}
	ran.Store(0)
	_, err = s.Claim(ctx, storage.ClaimRequest{})
	if failed := storeError(t, err); !strings.Contains(failed.Problem, "changing the free items") || !strings.Contains(failed.Next, "try again") {
		t.Error(failed)
	}
	if n := ran.Load(); n > 60 {
		t.Errorf("the claim ran %d statements", n)
	}
	if _, err := other.Exec(ctx, "rollback"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Claim(ctx, storage.ClaimRequest{}); err != nil || got.Item.ID != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}
