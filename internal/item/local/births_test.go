package local_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
)

// stopped returns a clock that stands still.
func stopped() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC) }

// No two items of a store are born at the same time, however fast they are created and by
// whom: links and merges know an item by its birth.
func TestBirths(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, watching bool) {
		dir := project(t)
		const processes, each = 4, 8
		var all sync.WaitGroup
		for range processes {
			all.Go(func() {
				s := local.New(location.Search{Dir: dir}, stopped)
				local.SetWatching(s, watching)
				defer s.Close()
				for i := range each {
					it, err := s.Create(t.Context(), item.Draft{Title: "Item"})
					if err != nil {
						t.Error(err)
						return
					}
					if i == each/2 { // from here on with all items in memory
						if _, err := s.Snapshot(t.Context()); err != nil {
							t.Error(err)
						}
					}
					if i == 1 { // the birth of a deleted item stays its own
						if err := s.Delete(t.Context(), it.ID, "", false); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		s := open(t, dir, false)
		snapshot, err := s.Snapshot(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		deleted, _, err := s.Deleted(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var births []string
		for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
			births = append(births, it.Created)
		}
		for _, it := range deleted {
			births = append(births, it.Created)
		}
		slices.Sort(births)
		if unique := slices.Compact(slices.Clone(births)); len(births) != processes*each || len(unique) != len(births) {
			t.Errorf("%d items have %d births: %v", len(births), len(unique), births)
		}
	})
}

// An item that another program, or a merge, brought has its birth for itself as well.
func TestBirthsOfOthers(t *testing.T) {
	t.Parallel()
	eachWay(t, func(t *testing.T, watching bool) {
		dir := project(t)
		write(t, dir, "items/7.md", "---\nid: \"7\"\ntitle: From elsewhere\ncreated: 2026-11-22T08:00:00.000Z\n---\n")
		s := local.New(location.Search{Dir: dir}, stopped)
		local.SetWatching(s, watching)
		defer s.Close()
		it, err := s.Create(t.Context(), item.Draft{Title: "New"})
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "birth", "2026-11-22T08:00:00.001Z", it.Created)
	})
}

// Each change moves the time of the update on, also under a clock that stands still or is
// behind that of somebody else: a change and a deletion are then a conflict for git.
func TestUpdatedMovesOn(t *testing.T) {
	t.Parallel()
	dir := project(t)
	s := local.New(location.Search{Dir: dir}, stopped)
	t.Cleanup(func() { _ = s.Close() })
	for _, start := range []string{"2026-11-22T08:00:00.000Z", "2027-01-01T00:00:00.000Z", "2026-11-22T12:00:00.5+03:00", "2026-11-22T08:00:00.0004Z"} {
		write(t, dir, "items/1.md", "---\nid: \"1\"\ntitle: x\nstatus: todo\ntype: task\npriority: low\ncreated: 2026-01-01T00:00:00.000Z\nupdated: "+start+"\n---\n")
		last := start
		later := func(what, updated string) {
			t.Helper()
			before, err := time.Parse(time.RFC3339, last)
			if err != nil {
				t.Fatal(err)
			}
			if after, err := time.Parse(time.RFC3339, updated); err != nil || !after.After(before) {
				t.Errorf("%s at %s, after %s: %v", what, updated, last, err)
			}
			last = updated
		}
		for range 2 {
			it, err := s.Update(t.Context(), 1, item.Patch{Title: new("y")})
			if err != nil {
				t.Fatal(err)
			}
			later("updated", it.Updated)
			c, err := s.AddComment(t.Context(), 1, "eve", "the same text")
			if err != nil {
				t.Fatal(err)
			}
			later("commented", c.Date)
		}
	}
	// A time that nothing can be later than, or that is none, gives way to the clock.
	for _, start := range []string{"9999-12-31T23:59:59.999Z", "yesterday"} {
		write(t, dir, "items/1.md", "---\nid: \"1\"\ntitle: x\nstatus: todo\ntype: task\npriority: low\ncreated: 2026-01-01T00:00:00.000Z\nupdated: "+start+"\n---\n")
		it, err := s.Update(t.Context(), 1, item.Patch{Title: new("y")})
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "updated after "+start, "2026-11-22T08:00:00.000Z", it.Updated)
	}
}
