package relation_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/workflow/verdict"
	"github.com/copse-dev/copse/internal/workflow/verdict/relation"
)

// A branch has its distance from its parent and from its remote branch. A search finds that the trunk has
// a branch, and later calls use the result.
func TestCompare(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "start")
	g.Run(dir, "remote", "add", "origin", dir)
	g.Run(dir, "switch", "-q", "-c", "done")
	done := g.Commit(dir, "done")
	g.Run(dir, "switch", "-q", "-c", "api", "main")
	pushed := g.Commit(dir, "pushed")
	g.Run(dir, "update-ref", "refs/remotes/origin/api", pushed)
	g.Commit(dir, "more")
	g.Run(dir, "switch", "-q", "main")
	g.Run(dir, "merge", "-q", "--no-ff", "-m", "merge", "done")
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	known := relation.New()
	compare := func(searches int) (found, api verdict.Branch) {
		t.Helper()
		branches := []verdict.Branch{{Branch: "done"}, {Branch: "api"}, {Branch: "gone", Missing: true}}
		tips, err := relation.Read(t.Context(), repo, "main", branches)
		if err != nil {
			t.Fatal(err)
		}
		if tips.Commit("done") != done || tips.Commit("gone") != "" {
			t.Errorf("done is at %q, gone at %q", tips.Commit("done"), tips.Commit("gone"))
		}
		if name, commit, ok := tips.Published("api"); name != "api" || commit != pushed || !ok {
			t.Errorf("api is published as %q at %q, %t", name, commit, ok)
		}
		if _, _, ok := tips.Published("done"); ok {
			t.Error("done is published")
		}
		if err := known.Compare(t.Context(), repo, tips, searches); err != nil {
			t.Fatal(err)
		}
		return branches[0], branches[1]
	}
	if found, _ := compare(0); found.Merged != "" {
		t.Errorf("without a search: merged %q", found.Merged)
	}
	found, api := compare(1)
	if found.Merged == "" || *found.Ahead != 0 || *found.Unpushed != 0 {
		t.Errorf("done: %+v", found)
	}
	if *api.Ahead != 2 || *api.Behind != 2 || api.Remote != "origin/api" || *api.Unpushed != 1 || api.Unpulled != 0 || api.Merged != "" {
		t.Errorf("api: %+v", api)
	}
	if found, _ = compare(0); found.Merged == "" {
		t.Error("the result of the search is not cached")
	}
}
