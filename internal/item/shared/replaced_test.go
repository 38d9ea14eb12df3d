package shared_test

import (
	"context"
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

	// Another store in its place.
	alien := sidebranch.Tree{"config.yml": m.files(t)["config.yml"], "items/1.md": strings.Replace(m.files(t)["items/2.md"], "created: 2", "created: 1", 1)}
	commit, err := other.syncer.Branch.Commit(ctx, alien, "alien")
	if err != nil {
		t.Fatal(err)
	}
	g.Run(other.clone, "push", "-q", "--force", remote, string(commit)+":refs/heads/"+itemsBranch)
	create(ctx, t, m, "five")
	m.sync(t)
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
