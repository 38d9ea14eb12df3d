package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/postgres"
	"github.com/copse-dev/copse/internal/item/postgres/connection"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/test/postgrestest"
)

// Errors about rows that another program has written name the row and the next step, and no claim gets
// an item that other calls refuse.
func TestRowsOfOthers(t *testing.T) {
	t.Parallel()
	server, _ := postgrestest.Shared(t)
	database, err := server.Database(true)
	if err != nil {
		t.Fatal(err)
	}
	at, ctx := server.Address(database), claim.WithAgent(t.Context(), itemtest.Agent("ada"))
	s := makeProject(t, at, "x")
	hasty := postgres.New(postgres.Options{
		Database: connection.Options{Patience: 100 * time.Millisecond, Config: func() (*pgxpool.Config, error) { return pgxpool.ParseConfig(at) }},
		Project:  func() (string, error) { return "x", nil },
	})
	defer hasty.Close()
	if _, err := s.Create(ctx, item.Draft{Title: "ahead"}); err != nil {
		t.Fatal(err)
	}
	server.Exec(t, database, "update copse.item set version = 99999")
	_, err = hasty.Claim(ctx, storage.ClaimRequest{})
	if failed := storeError(t, err); !strings.Contains(failed.Problem, "work item #1 with a version above") || !strings.Contains(failed.Next, "Change a field") {
		t.Error(failed)
	}
	if _, err := s.Update(ctx, 1, item.Patch{Priority: new("high")}); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Claim(ctx, storage.ClaimRequest{}); err != nil || got.Item.ID != 1 {
		t.Errorf("after the correction: %+v, %v", got, err)
	}

	server.Exec(t, database, `insert into copse.item select (i).* from (select pg_catalog.jsonb_populate_record(i, '{"id": 9223372036854775807, "version": 4}') i from copse.item i) r;
		update copse.project set next_id = 9007199254740992, version = 4`)
	all, err := s.Snapshot(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if all.Len() != 1 || fmt.Sprint(all.Warnings) == "[]" || !strings.Contains(fmt.Sprint(all.Warnings), "item 9223372036854775807 is not listed") {
		t.Errorf("%d items, warnings %v", all.Len(), all.Warnings)
	}
	if got, err := s.Claim(claim.WithAgent(t.Context(), itemtest.Agent("bob")), storage.ClaimRequest{}); err == nil {
		t.Errorf("got %+v", got)
	}
	_, err = s.Create(ctx, item.Draft{Title: "y"})
	if failed := storeError(t, err); !strings.Contains(failed.Problem, "no number is left") || !strings.Contains(failed.Next, "next_id") {
		t.Error(failed)
	}
	server.Exec(t, database, "delete from copse.item where id > 9007199254740991; update copse.project set version = 5; insert into copse.migration (version) values (1000)")
	if done, err := s.Migrate(context.WithoutCancel(ctx)); err == nil || !strings.Contains(err.Error(), "newer") {
		t.Errorf("migrated %v: %v", done, err)
	}
}
