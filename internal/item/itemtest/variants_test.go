package itemtest_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/itemtest"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
)

// tracker is a local store that can do no more than an issue tracker: its numbers have gaps,
// comments are by its user, texts are short, deletion is final, and lists lag behind.
type tracker struct {
	*local.Store
	can storage.Capabilities

	mu    sync.Mutex
	seen  *item.Snapshot // what lists show, as of some moment
	until time.Time
}

func (t *tracker) Capabilities() storage.Capabilities { return t.can }

// changed makes the tracker's own changes appear in its lists at once.
func (t *tracker) changed() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen = nil
}

func (t *tracker) Snapshot(ctx context.Context) (*item.Snapshot, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s, err := t.Store.Snapshot(ctx)
	if err != nil {
		return s, err
	}
	if t.seen == nil || time.Now().After(t.until) {
		t.seen, t.until = s, time.Now().Add(t.can.Lag/2)
	}
	claims := map[item.ID]claim.Claim{}
	for _, it := range s.Claims() {
		claims[it.ID], _ = s.Claim(it.ID)
	}
	return t.seen.WithClaims(claims), nil
}

func (t *tracker) Create(ctx context.Context, d item.Draft) (item.Item, error) {
	if err := t.can.Limits.CheckPatch(item.Patch{Title: &d.Title, Description: &d.Description}); err != nil {
		return item.Item{}, err
	}
	defer t.changed()
	it, err := t.Store.Create(ctx, d)
	if err != nil || !t.can.Gaps {
		return it, err
	}
	// Somebody opens a pull request, which takes a number of the same series.
	other, err := t.Store.Create(ctx, item.Draft{Title: "pull request"})
	if err != nil {
		return it, err
	}
	if err := t.Store.Delete(ctx, other.ID, "", false); err != nil {
		return it, err
	}
	return it, t.Purge(ctx, other.ID)
}

func (t *tracker) Update(ctx context.Context, id item.ID, p item.Patch) (item.Item, error) {
	if err := t.can.Limits.CheckPatch(p); err != nil {
		return item.Item{}, err
	}
	defer t.changed()
	return t.Store.Update(ctx, id, p)
}

func (t *tracker) AddComment(ctx context.Context, id item.ID, author, text string) (item.Comment, error) {
	if err := t.can.Limits.CheckComment(text); err != nil {
		return item.Comment{}, err
	}
	if t.can.Author != "" {
		author = t.can.Author
	}
	defer t.changed()
	return t.Store.AddComment(ctx, id, author, text)
}

func (t *tracker) Delete(ctx context.Context, id item.ID, seen item.Fingerprint, steal bool) error {
	defer t.changed()
	if err := t.Store.Delete(ctx, id, seen, steal); err != nil || t.can.Deletion != storage.Final {
		return err
	}
	return nil // it stays in the trash for its history, and nobody can restore it
}

func (t *tracker) Restore(ctx context.Context, id item.ID) (item.Item, error) {
	if t.can.Deletion == storage.Final {
		return item.Item{}, &storage.UnsupportedError{What: "This tracker destroys deleted items. Create the item again"}
	}
	defer t.changed()
	return t.Store.Restore(ctx, id)
}

func (t *tracker) Claim(ctx context.Context, r storage.ClaimRequest) (storage.Claimed, error) {
	defer t.changed()
	return t.Store.Claim(ctx, r)
}

func (t *tracker) Release(ctx context.Context, id item.ID, steal bool) (claim.Claim, bool, error) {
	defer t.changed()
	return t.Store.Release(ctx, id, steal)
}

func (t *tracker) Undo(ctx context.Context, id item.ID, change string, steal bool) (changes.Change, error) {
	defer t.changed()
	return t.Store.Undo(ctx, id, change, steal)
}

// project returns a project of the contract suite.
func project(t *testing.T, can storage.Capabilities) itemtest.Project {
	t.Helper()
	dir := t.TempDir()
	var passed atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	made := local.New(location.Search{Dir: dir}, now)
	if _, err := made.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	itemtest.Configure(t, dir)
	return itemtest.Project{
		Open: func(t *testing.T) storage.Backend {
			s := local.New(location.Search{Dir: dir}, now)
			t.Cleanup(func() { _ = s.Close() })
			return &tracker{Store: s, can: can}
		},
		Pass: func(_ *testing.T, d time.Duration) { passed.Add(int64(d)) },
	}
}

// Each capability that a backend lacks has tests of its own, and those for what it can do
// still hold.
func TestVariants(t *testing.T) {
	t.Parallel()
	for name, can := range map[string]storage.Capabilities{
		"gaps in numbers":  {Gaps: true},
		"final deletion":   {Deletion: storage.Final},
		"fixed author":     {Author: "the bot"},
		"short texts":      {Limits: storage.Limits{Title: 256, Description: 65_536, Comment: 32_767}},
		"lists that lag":   {Lag: 200 * time.Millisecond},
		"all of a tracker": {Gaps: true, Deletion: storage.Soft, Lag: 200 * time.Millisecond, Author: "the bot", Limits: storage.Limits{Title: 256, Description: 65_536, Comment: 65_536}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			itemtest.Run(t, func(t *testing.T) storage.Backend { return project(t, can).Open(t) })
			if strings.HasPrefix(name, "short") || strings.HasPrefix(name, "fixed") {
				return // nothing about agents
			}
			itemtest.RunFleetOf(t, itemtest.FewItems, func(t *testing.T) itemtest.Project { return project(t, can) })
		})
	}
}
