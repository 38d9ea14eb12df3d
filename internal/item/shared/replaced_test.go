package shared_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
)

// titles returns the titles of the items of a store, sorted.
func (m *machine) titles(t *testing.T) []string {
	t.Helper()
	all, err := m.store.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, it := range all.List(item.Config{}, item.Filter{All: true}) {
		titles = append(titles, it.Title)
	}
	slices.Sort(titles)
	return titles
}

// After somebody has replaced the history of the branch by one commit, a sync doubles no item, keeps the
// changes and deletions of both sides, and deletes nothing because the branch is another store.
func TestReplacedHistory(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g, remote, machines := newMachines(t, 2)
	m, other := machines[0], machines[1]
	for _, title := range []string{"one", "two", "three", "four"} {
		create(ctx, t, m, title)
	}
	m.sync(t)
	other.sync(t)
	if _, err := other.store.Update(ctx, 2, item.Patch{Status: new("done")}); err != nil {
		t.Fatal(err)
	}
	other.sync(t)
	squash(t, g, other, remote)
	if _, err := m.store.Update(ctx, 1, item.Patch{Title: new("one, better")}); err != nil {
		t.Fatal(err)
	}
	if err := m.store.Delete(ctx, 3, "", false); err != nil {
		t.Fatal(err)
	}
	if err := m.store.Purge(ctx, 3); err != nil {
		t.Fatal(err)
	}
	r := m.sync(t)
	if len(r.Renumbered)+len(r.Reports) > 0 {
		t.Errorf("renumbered %v, reports %v", r.Renumbered, r.Reports)
	}
	if diff := cmp.Diff([]string{"four", "one, better", "two"}, m.titles(t)); diff != "" {
		t.Error(diff)
	}
	if it, err := m.store.Item(ctx, 2); err != nil || it.Status != "done" {
		t.Errorf("got %+v, %v", it, err)
	}

	// Another store in its place is joined only on request.
	alien := sidebranch.Tree{"config.yml": m.files(t)["config.yml"], "items/1.md": strings.Replace(m.files(t)["items/2.md"], "created: 2", "created: 1", 1)}
	commit, err := other.syncer.Branch.Commit(ctx, alien, "alien")
	if err != nil {
		t.Fatal(err)
	}
	g.Run(other.clone, "push", "-q", "--force", remote, string(commit)+":refs/heads/"+itemsBranch)
	create(ctx, t, m, "five")
	before := strings.TrimSpace(g.Run(remote, "rev-parse", itemsBranch))
	for range 2 {
		if _, err := m.syncer.Sync(ctx); err == nil || !strings.Contains(err.Error(), "has no commit and no item in common with this store") {
			t.Errorf("the sync with another store: %v", err)
		}
	}
	if diff := cmp.Diff([]string{"five", "four", "one, better", "two"}, m.titles(t)); diff != "" {
		t.Errorf("items of another store arrived: %s", diff)
	}
	if after := strings.TrimSpace(g.Run(remote, "rev-parse", itemsBranch)); after != before {
		t.Error("items went to another store")
	}
	m.syncer.Join = true
	m.sync(t)
	if m.syncer.Join {
		t.Error("the next store is joined, too")
	}
	if diff := cmp.Diff([]string{"five", "four", "one, better", "two", "two"}, m.titles(t)); diff != "" {
		t.Error(diff)
	}
}

// squash replaces the remote's branch by one commit with the same files.
func squash(t *testing.T, g *gittest.Git, m *machine, remote string) {
	t.Helper()
	tree := strings.TrimSpace(g.Run(remote, "rev-parse", itemsBranch+"^{tree}"))
	commit := strings.TrimSpace(g.Run(m.clone, "commit-tree", "-m", "squashed", tree))
	g.Run(m.clone, "push", "-q", "--force", remote, commit+":refs/heads/"+itemsBranch)
}

func create(ctx context.Context, t *testing.T, m *machine, title string) {
	t.Helper()
	if _, err := m.store.Create(ctx, item.Draft{Title: title}); err != nil {
		t.Fatal(err)
	}
}

// Clones that both created a store before the first push share one afterward. An empty store in place of
// the branch is not another store, but a store with items is one for a store that has lost all of its own.
func TestStoresWithoutCommonCommit(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	g, remote, machines := newMachines(t, 2)
	m, other := machines[0], machines[1]
	create(ctx, t, m, "one")
	create(ctx, t, other, "two")
	m.sync(t)
	other.sync(t)
	m.sync(t)
	both := []string{"one", "two"}
	if diff := cmp.Diff(both, m.titles(t)); diff != "" {
		t.Error(diff)
	}

	config := m.files(t)["config.yml"]
	replace := func(tree sidebranch.Tree) {
		t.Helper()
		commit, err := other.syncer.Branch.Commit(ctx, tree, "alien")
		if err != nil {
			t.Fatal(err)
		}
		g.Run(other.clone, "push", "-q", "--force", remote, string(commit)+":refs/heads/"+itemsBranch)
	}
	alien := strings.Replace(m.files(t)["items/2.md"], "created: 2", "created: 1", 1)
	replace(sidebranch.Tree{"config.yml": config})
	m.sync(t)
	if diff := cmp.Diff(both, m.titles(t)); diff != "" {
		t.Error(diff)
	}
	for _, id := range []item.ID{1, 2} {
		if err := errors.Join(m.store.Delete(ctx, id, "", false), m.store.Purge(ctx, id)); err != nil {
			t.Fatal(err)
		}
	}
	m.sync(t)
	replace(sidebranch.Tree{"config.yml": config, "items/2.md": alien})
	if _, err := m.syncer.Sync(ctx); err == nil || !strings.Contains(err.Error(), "copse item sync --join") {
		t.Errorf("the sync with another store: %v", err)
	}
}
