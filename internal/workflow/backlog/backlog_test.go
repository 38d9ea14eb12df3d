package backlog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/workflow/backlog"
	"github.com/copse-dev/copse/internal/workflow/pull"
)

// project returns the store of a new project in dir, with one item.
func project(t *testing.T, dir string) *local.Store {
	t.Helper()
	store := local.New(location.Search{Dir: dir}, time.Now)
	t.Cleanup(func() { _ = store.Close() })
	if _, err := store.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Create(t.Context(), item.Draft{Title: "Show the login form"}); err != nil {
		t.Fatal(err)
	}
	return store
}

func TestStart(t *testing.T) {
	t.Parallel()
	g, dir := gittest.New(t), gittest.Dir(t)
	g.Run(dir, "init", "-q", "--initial-branch=main")
	g.Commit(dir, "begin")
	store := project(t, dir)
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	work := backlog.New(store)

	plan, err := work.PlanStart(t.Context(), repo, 1, backlog.StartOptions{NewWorktree: true})
	if err != nil {
		t.Fatal(err)
	}
	tree := filepath.Join(dir, ".worktrees", strings.TrimPrefix(plan.Branch, "tic/"))
	want := backlog.Start{
		ID: 1, Branch: plan.Branch, Parent: "main", Worktree: tree,
		Command: []string{"git", "worktree", "add", "-b", plan.Branch, tree, "main"},
	}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Error(diff)
	}
	if it, err := store.Item(t.Context(), 1); err != nil || it.Link != (item.Link{}) {
		t.Errorf("a plan changed the item: %+v, %v", it.Link, err)
	}

	if plan, err = work.PlanStart(t.Context(), repo, 1, backlog.StartOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := work.Begin(t.Context(), repo, plan); err != nil {
		t.Fatal(err)
	}
	it, err := store.Item(t.Context(), 1)
	if err != nil || it.Link.Branch != plan.Branch || it.Status != "in-progress" {
		t.Errorf("after the start: %+v, %v", it, err)
	}
	if head, err := repo.Head(t.Context()); err != nil || head.Branch != plan.Branch {
		t.Errorf("checked out: %+v, %v", head, err)
	}
	if _, err := work.PlanStart(t.Context(), repo, 1, backlog.StartOptions{Branch: "--force"}); err == nil {
		t.Error("a branch that git takes for an option is planned")
	}
	if _, err := work.PlanStart(t.Context(), repo, 7, backlog.StartOptions{}); !item.IsNotFound(err) {
		t.Errorf("an unknown item: %v", err)
	}
}

// A start whose caller leaves is complete or has not happened.
func TestStartIsInterrupted(t *testing.T) {
	t.Parallel()
	g, dir := gittest.New(t), gittest.Dir(t)
	g.Run(dir, "init", "-q", "--initial-branch=main")
	g.Commit(dir, "begin")
	store := project(t, dir)
	ctx, cancel := context.WithCancel(t.Context())
	runs := g.During("switch", cancel)
	repo, err := git.Discover(ctx, dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	work := backlog.New(store)
	plan, err := work.PlanStart(ctx, repo, 1, backlog.StartOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := work.Begin(ctx, repo, plan); !errors.Is(err, context.Canceled) || runs() != 1 {
		t.Fatalf("%d runs, %v", runs(), err)
	}
	if it, err := store.Item(t.Context(), 1); err != nil || it.Link != (item.Link{}) {
		t.Errorf("after the start: %+v, %v", it, err)
	}
	if head, err := repo.Head(t.Context()); err != nil || head.Branch != "main" {
		t.Errorf("checked out: %+v, %v", head, err)
	}
	// The store ends the context when git has ended.
	late, cancelLate := context.WithCancel(t.Context())
	g.Env = g.Env.With("PATH=" + os.Getenv("PATH"))
	if repo, err = git.Discover(late, dir, git.Options{Env: g.Env}); err != nil {
		t.Fatal(err)
	}
	if err := backlog.New(leaving{store, cancelLate}).Begin(late, repo, plan); err != nil {
		t.Fatal(err)
	}
	if it, err := store.Item(t.Context(), 1); err != nil || it.Link.Branch != plan.Branch {
		t.Errorf("the branch is there, and the item is not linked: %+v, %v", it, err)
	}
}

// leaving is a store whose caller leaves before an update.
type leaving struct {
	storage.Backend
	leave func()
}

func (l leaving) Update(ctx context.Context, id item.ID, p item.Patch) (item.Item, error) {
	l.leave()
	if ctx.Err() != nil {
		return item.Item{}, ctx.Err()
	}
	return l.Backend.Update(ctx, id, p)
}

// A submodule's own configuration runs nothing when git switches.
func TestStartRunsNothing(t *testing.T) {
	t.Parallel()
	g, dir := gittest.New(t), gittest.Dir(t)
	g.Run(dir, "init", "-q", "--initial-branch=main")
	sub := filepath.Join(dir, "sub")
	g.Run(dir, "init", "-q", sub)
	gittest.Write(t, filepath.Join(sub, ".gitattributes"), "* filter=s\n")
	gittest.Write(t, filepath.Join(sub, "s.txt"), "s\n")
	g.Run(sub, "add", ".")
	g.Commit(sub, "s")
	if _, err := g.Try(dir, "add", "sub"); err != nil {
		t.Fatal(err)
	}
	g.Commit(dir, "begin")
	g.Run(dir, "branch", "other")
	store := project(t, dir)
	canary := filepath.Join(gittest.Dir(t), "canary")
	g.Run(sub, "config", "filter.s.clean", "touch '"+canary+"'; cat")
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	work := backlog.New(store)
	for _, options := range []backlog.StartOptions{{Branch: "other"}, {Branch: "new", Base: "main"}, {Branch: "third", Base: "other", NewWorktree: true}} {
		gittest.Write(t, filepath.Join(sub, "s.txt"), "t\n") // the same size: git compares the content
		plan, err := work.PlanStart(t.Context(), repo, 1, options)
		if err != nil {
			t.Fatal(err)
		}
		if err := work.Begin(t.Context(), repo, plan); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(canary); err == nil {
			t.Errorf("%v: a filter of the submodule has run", plan.Command)
		}
		_ = os.Remove(canary)
	}
	g.Run(dir, "switch", "main")
	if _, err := os.Stat(canary); err != nil {
		t.Errorf("git itself runs no filter: %v", err)
	}
}

// pulls has pull requests by their number; it fails for others.
type pulls map[int]pullrequest.PullRequest

func (p pulls) Get(_ context.Context, ref pull.Ref) (pullrequest.PullRequest, error) {
	if pr, ok := p[ref.Number]; ok {
		return pr, nil
	}
	return pullrequest.PullRequest{}, errors.New("not in the cache")
}

// links has the links of items.
type links map[item.ID]item.Link

func (l links) Links(context.Context) (map[item.ID]item.Link, error) { return l, nil }

func TestMerged(t *testing.T) {
	t.Parallel()
	store := links{
		1: {PullRequest: "10"}, 2: {PullRequest: "10"}, 3: {PullRequest: "11"}, 4: {PullRequest: "99"},
		5: {Branch: "only"}, 6: {PullRequest: "owner/name#10"}, 7: {PullRequest: "ten"},
	}
	var list []*item.Summary
	for id := item.ID(1); id <= 8; id++ {
		list = append(list, &item.Summary{ID: id, Status: "todo"})
	}
	list[1].Status = "done"
	got, err := backlog.Merged(t.Context(), store, pulls{10: {Merged: true}, 11: {}}, item.Config{Statuses: []string{"todo", "done"}}, list)
	if err != nil {
		t.Fatal(err)
	}
	want := map[item.ID]item.Link{1: store[1], 6: store[6]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A list of relatives that is empty is not one of an item that does not exist.
func TestRelated(t *testing.T) {
	t.Parallel()
	work := backlog.New(project(t, t.TempDir()))
	view, err := work.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if found, err := work.Related(t.Context(), view, 1, (*item.Snapshot).Children); err != nil || len(found) != 0 {
		t.Errorf("no children: %v, %v", found, err)
	}
	if _, err := work.Related(t.Context(), view, 2, (*item.Snapshot).Children); !item.IsNotFound(err) {
		t.Errorf("no item: %v", err)
	}
}

// A query says how many more items other iterations have, if it has a text or finds nothing. A text of
// blanks is none.
func TestSelect(t *testing.T) {
	t.Parallel()
	view := found(t, 3)
	for _, tt := range []struct {
		query           backlog.Query
		hits, elsewhere int
	}{
		{backlog.Query{}, 3, 0},
		{backlog.Query{Text: "item"}, 3, 1},
		{backlog.Query{Text: "  "}, 3, 0},
		{backlog.Query{Text: "item", Filter: item.Filter{All: true}}, 4, 0},
		{backlog.Query{Text: "item", Filter: item.Filter{Iteration: "later"}}, 1, 3},
		{backlog.Query{Text: "item", Filter: item.Filter{Iteration: "never"}}, 0, 4},
		{backlog.Query{Filter: item.Filter{Iteration: "never"}}, 0, 4},
		{backlog.Query{Filter: item.Filter{Iteration: "never", Label: "none"}}, 0, 0},
		{backlog.Query{Filter: item.Filter{Iteration: "never", All: true}}, 4, 0},
	} {
		hits, elsewhere := view.Select(tt.query)
		if len(hits) != tt.hits || elsewhere != tt.elsewhere {
			t.Errorf("%+v: %d and %d elsewhere, want %d and %d", tt.query, len(hits), elsewhere, tt.hits, tt.elsewhere)
		}
	}
}

// found returns a view of n items, and one in another iteration.
func found(t *testing.T, n int) backlog.View {
	t.Helper()
	entries := make(map[item.ID]*item.Entry)
	for id := 1; id <= n+1; id++ {
		it := item.Item{Summary: item.Summary{ID: item.ID(id), Title: "An item", Iteration: "now"}}
		if id > n {
			it.Iteration = "later"
		}
		entries[it.ID] = item.NewEntry(&it)
	}
	return backlog.View{Config: item.Config{CurrentIteration: "now"}, Snapshot: new(item.Snapshot).With(entries, nil)}
}

// A search reads the texts of the items once.
func TestSelectOnce(t *testing.T) { // not parallel: it counts the allocations of the process
	view := found(t, 1000)
	for _, q := range []backlog.Query{{Text: "item"}, {Text: "item", Filter: item.Filter{All: true}}} {
		want := testing.AllocsPerRun(10, func() { view.Search(view.Config, q.Text, item.Filter{All: true}) })
		if got := testing.AllocsPerRun(10, func() { view.Select(q) }); got > want {
			t.Errorf("%+v: %v allocations, of a search %v", q, got, want)
		}
	}
}
