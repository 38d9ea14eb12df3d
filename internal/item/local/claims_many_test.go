package local_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Claims take a limited time together: the files of no item are not read, and of those of items, the
// smallest are, with a warning about the others. Nobody gets an item whose claim was not read.
func TestManyLargeClaims(t *testing.T) {
	t.Parallel()
	const limit, size = 8 << 20, 60 << 10
	const many = limit/size + 2
	dir := project(t)
	s := open(t, dir, false)
	ctx := claim.WithAgent(t.Context(), itemtest.Agent("ada"))
	if _, err := s.Create(ctx, item.Draft{Title: "held"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Claim(ctx, storage.ClaimRequest{ID: 1}); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	claims := filepath.Join(dir, ".tic", ".copse", claimfile.Directory)
	plant := func(id item.ID, created string) {
		t.Helper()
		now := time.Now()
		data, err := json.Marshal(claimfile.Record{Item: id, Created: created, Claim: claim.Claim{
			Holder: claim.Agent{Name: "mallory", Session: strings.Repeat("x", size)}, Since: now, Renewed: now, Expires: now.Add(time.Hour),
		}})
		if err == nil {
			err = os.WriteFile(filepath.Join(claims, claimfile.Name(id, created)), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for id := item.ID(2); id < many+2; id++ {
		plant(id, at.Format(time.RFC3339))
	}
	listed := func() (held int, warnings string) {
		t.Helper()
		all, err := s.Snapshot(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := all.Claim(1); !ok || c.Holder.Name != "ada" {
			t.Errorf("#1 is held by %v", c)
		}
		return len(all.Claims()), fmt.Sprint(all.Warnings)
	}
	if held, warnings := listed(); held != 1 || warnings != "[]" {
		t.Errorf("%d claims, warnings %s", held, warnings)
	}
	for id := item.ID(2); id < many+2; id++ {
		text := fmt.Sprintf("---\nid: %d\ntitle: x\ntype: task\nstatus: backlog\ncreated: %[2]s\nupdated: %[2]s\n---\n", id, at.Format(time.RFC3339))
		if err := os.WriteFile(filepath.Join(dir, ".tic", "items", id.String()+".md"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, warnings := listed()
	if held >= many || held < many/2 || !strings.Contains(warnings, "more than 8 MiB of claims") {
		t.Errorf("%d claims, warnings %s", held, warnings)
	}
	if got, err := s.Claim(claim.WithAgent(t.Context(), itemtest.Agent("bob")), storage.ClaimRequest{}); err == nil {
		t.Errorf("bob got #%d", got.Item.ID)
	}
}
