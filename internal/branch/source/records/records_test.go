package records_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/branch/source/githubstack"
	"github.com/copse-dev/copse/internal/branch/source/pullbase"
	"github.com/copse-dev/copse/internal/branch/source/pulllist"
	"github.com/copse-dev/copse/internal/branch/source/records"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/settings"
)

// What the settings can name is what there is.
func TestNamesAreThoseOfTheSettings(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(settings.Sources(), records.Names()); diff != "" {
		t.Errorf("-settings +records:\n%s", diff)
	}
}

// world is a repository with what is recorded about it.
type world struct {
	*gittest.Git
	dir   string
	pulls pulllist.Dir
	first []string
	*records.Records
}

func newWorld(t *testing.T, args ...string) *world {
	t.Helper()
	g := gittest.New(t)
	w := &world{Git: g, dir: g.Init(append(args, "-b", "main")...), pulls: pulllist.Dir(filepath.Join(g.Home, "pulls"))}
	g.Commit(w.dir, "start")
	w.Records = records.New(records.Options{Pulls: w.pulls, First: func() []string { return w.first }})
	return w
}

// join returns each parent with its source and, where it is stale, what was recorded.
func (w *world) join(t *testing.T, own *twig.State) (edges map[string]string, notes []string) {
	t.Helper()
	repo, err := git.Discover(t.Context(), w.dir, git.Options{Env: w.Env})
	if err != nil {
		t.Fatal(err)
	}
	state, notes, err := w.Join(t.Context(), repo, own, func() ([]string, error) { return repo.LocalBranches(context.Background()) }, true)
	if err != nil {
		t.Fatal(err)
	}
	edges = map[string]string{}
	for _, d := range state.Dependencies {
		edges[d.Child] = strings.TrimSpace(d.Parent + " " + d.Source + " " + d.Stale)
	}
	return edges, notes
}

// Both formats of refs give the same parents.
func TestReflog(t *testing.T) {
	t.Parallel()
	for format, args := range map[string][]string{"files": nil, "reftable": {"--ref-format=reftable"}} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			testReflog(t, newWorld(t, args...))
		})
	}
}

func testReflog(t *testing.T, w *world) {
	t.Helper()
	run := func(args ...string) { w.Run(w.dir, args...) }
	commit := func(text string) { w.Commit(w.dir, text) }
	run("switch", "-q", "-c", "a") // made from HEAD
	commit("a")
	run("checkout", "-q", "-b", "b", "a") // made from a name
	commit("b")
	run("switch", "-q", "-c", "gone")
	commit("gone")
	run("switch", "-q", "-c", "orphaned")
	commit("orphaned")
	run("branch", "-q", "-D", "gone")
	run("branch", "-m", "b", "renamed")
	run("switch", "-q", "-c", "moved", "renamed")
	commit("moved")
	run("switch", "-q", "main")
	commit("more")
	run("rebase", "-q", "main", "moved") // it is no longer on b
	run("worktree", "add", "-q", "-b", "linked", filepath.Join(w.Home, "linked"), "a")
	run("tag", "v1", "main")
	run("branch", "tagged", "v1")
	fetched := strings.TrimSpace(w.Run(w.dir, "commit-tree", "-p", "main", "-m", "fetched", "main^{tree}"))
	run("update-ref", "--create-reflog", "-m", "fetch origin: fast-forward", "refs/remotes/origin/main", fetched)
	run("branch", "fetched", fetched)
	run("switch", "-q", "--detach", "renamed")
	run("switch", "-q", "-c", "detached")
	run("switch", "-q", "main")
	want := map[string]string{
		"a": "main reflog", "renamed": "a reflog", "orphaned": "main reflog gone", "moved": "main reflog",
		"linked": "a reflog", "tagged": "main reflog", "detached": "renamed reflog",
		"fetched": "main reflog",
	}
	got, notes := w.join(t, nil)
	if diff := cmp.Diff(want, got); diff != "" || len(notes) > 0 {
		t.Errorf("-want +got:\n%s%q", diff, notes)
	}
	// What a tool says counts before, and a rebase shows although no directory changed.
	run("config", "git-town-branch.detached.parent", "a")
	run("rebase", "-q", "main", "orphaned")
	want["detached"], want["orphaned"] = "a git-town", "main reflog"
	if got, _ := w.join(t, nil); cmp.Diff(want, got) != "" {
		t.Errorf("-want +got:\n%s", cmp.Diff(want, got))
	}
}

func TestPullRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "x"} {
		w.Run(w.dir, "branch", name)
	}
	list := pulllist.List{Pulls: []pulllist.Pull{
		{Number: 4, Head: "x", Base: "release"},
		{Number: 3, Head: "c", Base: "a", Stack: &pulllist.Stack{ID: 9, Position: 4, Base: "main"}},
		{Number: 2, Head: "b", Base: "a", Stack: &pulllist.Stack{ID: 9, Position: 3, Base: "main"}},
		{Number: 1, Head: "a", Base: "main"},
		{Number: 5, Head: "../x", Base: "main"},
	}}
	repo, err := git.Discover(t.Context(), w.dir, git.Options{Env: w.Env})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.pulls.Write(t.Context(), repo, list); err != nil {
		t.Fatal(err)
	}
	got, notes := w.join(t, nil)
	// The member of the stack at position 2 is merged, and git does not have release.
	want := map[string]string{"a": "main pull-request", "b": "main github-stack", "c": "b github-stack", "x": "main pull-request release"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	wantNotes := []string{
		"parent of b: github-stack says main, pull-request says a; copse uses the first",
		"parent of c: github-stack says b, pull-request says a; copse uses the first",
	}
	slices.Sort(notes)
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	w.first = []string{"reflog", "pull-request"}
	if got, _ := w.join(t, nil); got["b"] != "main reflog" || got["a"] != "main reflog" {
		t.Errorf("with another order, got %v", got)
	}
	// Another origin does not have these pull requests.
	w.first = nil
	w.Run(w.dir, "remote", "add", "origin", "https://github.com/other/fork")
	if got, _ := w.join(t, nil); got["b"] != "main reflog" {
		t.Errorf("with another origin, got %v", got)
	}
	w.Run(w.dir, "remote", "remove", "origin")
	if got, _ := w.join(t, nil); got["b"] != "main github-stack" {
		t.Errorf("with the former origin, got %v", got)
	}
	// A damaged list says so, and the others answer.
	gittest.Write(t, w.pulls.Path(repo.CommonDir()), "{")
	if got, notes := w.join(t, nil); got["b"] != "main reflog" || len(notes) != 2 || !strings.Contains(notes[0], "damaged") {
		t.Errorf("got %v, %q", got, notes)
	}
}

// Own edges stay as they are, and get what the others know besides.
func TestJoinWithState(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.Run(w.dir, "branch", name)
	}
	gittest.Write(t, filepath.Join(w.dir, ".git", "machete"), "rel\n  main\n    a PR #1\n      b PR #2\n    d\n      c PR #3\n")
	own := twig.NewState(twig.Document{
		Version: 1, Branches: map[string]twig.Branch{"a": {Branch: "a", GitHubPR: 7, JiraIssue: "A-1"}},
		Dependencies: []twig.Dependency{{Child: "a", Parent: "main"}, {Child: "b", Parent: "main"}, {Child: "b", Parent: "d"}, {Child: "c", Parent: "gone"}},
		Roots:        []twig.Root{{Branch: "main", IsDefault: true}},
	})
	got, notes := w.join(t, own)
	want := map[string]string{"a": "main", "b": "d", "c": "gone", "d": "main git-machete"} // the last of b's two
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"parent of b: twig says main, git-machete says a; copse uses the first"}, notes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	repo, err := git.Discover(t.Context(), w.dir, git.Options{Env: w.Env})
	if err != nil {
		t.Fatal(err)
	}
	names := func() ([]string, error) { return repo.LocalBranches(context.Background()) }
	state, _, err := w.Join(t.Context(), repo, own, names, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, pr := range map[string]uint32{"a": 7, "b": 2, "c": 3} {
		if got := state.Metadata(name).PRNumber; got != pr {
			t.Errorf("%s: got #%d, want #%d", name, got, pr)
		}
	}
	if state.Metadata("a").JiraIssue != "A-1" || state.IsRoot("rel") || !state.IsRoot("main") || len(own.Branches) != 1 {
		t.Error("the state was lost, or changed")
	}
	// The same answer is kept, and nothing is a new state without a record.
	if again, _, err := w.Join(t.Context(), repo, own, names, false); err != nil || again != state {
		t.Errorf("joined again: %v", err)
	}
	if err := os.Remove(filepath.Join(w.dir, ".git", "machete")); err != nil {
		t.Fatal(err)
	}
	if alone, notes, err := w.Join(t.Context(), repo, own, names, false); err != nil || alone != own || len(notes) > 0 {
		t.Errorf("alone: %v, %q", err, notes)
	}
}

// A file that changes within one tick of the clock, and keeps its size, is read again.
func TestSameSizeSoonAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, name := range []string{"a", "b", "c"} {
		w.Run(w.dir, "branch", name)
	}
	path := filepath.Join(w.dir, ".git", "machete")
	at := time.Now()
	for i, parent := range []string{"a", "b", "a", "b"} {
		gittest.Write(t, path, parent+"\n  c\n")
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		if got, _ := w.join(t, nil); got["c"] != parent+" git-machete" {
			t.Errorf("time %d: got %v", i, got)
		}
	}
}

func FuzzPulls(f *testing.F) {
	f.Add("a", "b", "main", int64(1), 2)
	f.Fuzz(func(t *testing.T, head, base, trunk string, id int64, position int) {
		list := pulllist.List{Pulls: []pulllist.Pull{
			{Number: 1, Head: head, Base: base, Stack: &pulllist.Stack{ID: id, Position: position, Base: trunk}},
			{Number: 2, Head: base, Base: head, Stack: &pulllist.Stack{ID: id, Position: 1, Base: trunk}},
		}}
		for _, e := range append(pullbase.Chains(list).Edges, githubstack.Stacks(list).Edges...) {
			if e.Child == e.Parent || e.Child == "" || e.Parent == "" {
				t.Errorf("got %+v", e)
			}
		}
	})
}
