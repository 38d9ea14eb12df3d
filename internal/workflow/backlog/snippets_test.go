package backlog_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/backlog"
)

// far is a store to which each read is a long way.
type far struct {
	storage.Backend
	reads int
	asked []item.ID
}

func (f *far) Item(ctx context.Context, id item.ID) (item.Item, error) {
	f.reads++
	return f.Backend.Item(ctx, id)
}

func (f *far) Descriptions(ctx context.Context, ids []item.ID) (map[item.ID]string, error) {
	f.reads++
	f.asked = append(f.asked, ids...)
	found := make(map[item.ID]string)
	for _, id := range ids {
		if it, err := f.Backend.Item(ctx, id); err == nil {
			found[id] = it.Description
		}
	}
	return found, nil
}

// A page of a search reads the descriptions that it shows at once, and none that it has.
func TestSnippetsAreReadAtOnce(t *testing.T) {
	t.Parallel()
	ctx, store := t.Context(), project(t, t.TempDir())
	for i := range 100 {
		d := item.Draft{Title: fmt.Sprintf("needle %d", i), Description: fmt.Sprintf("a needle of %d", i)}
		if i%2 == 0 {
			d.Description = ""
		}
		if _, err := store.Create(ctx, d); err != nil {
			t.Fatal(err)
		}
	}
	db := &far{Backend: store}
	work := backlog.New(db)
	v, err := work.Read(ctx)
	if err != nil {
		t.Fatal(err)
	}
	hits, _ := v.Select(backlog.Query{Filter: item.Filter{All: true}, Text: "needle"})
	if len(hits) != 100 {
		t.Fatalf("%d hits", len(hits))
	}
	for _, want := range []int{1, 0} { // reads for the first page, and for the same again
		db.reads = 0
		snippets := work.Snippets("needle", hits)
		for i, hit := range hits[:20] {
			text := ""
			if i%2 == 1 {
				text = fmt.Sprintf("a needle of %d", i)
			}
			if got := snippets.Of(ctx, hit); got != text {
				t.Errorf("#%d: got %q, want %q", hit.ID, got, text)
			}
		}
		if db.reads != want {
			t.Errorf("%d reads, want %d", db.reads, want)
		}
	}
	if len(db.asked) > 32 {
		t.Errorf("a page of 20 read %d descriptions", len(db.asked))
	}
	if err := store.Delete(ctx, hits[99].ID, "", false); err != nil {
		t.Fatal(err)
	}
	if got := work.Snippets("needle", hits).Of(ctx, hits[99]); got != "" {
		t.Errorf("got %q of a deleted item", got)
	}
}
