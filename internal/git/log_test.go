package git_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
)

func TestLog(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	r := discover(t, g, dir)
	log := func(n int) []git.Commit {
		t.Helper()
		commits, err := r.Log(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return commits
	}
	if got := log(3); len(got) != 0 {
		t.Errorf("unborn: %v", got)
	}
	// Configuration of the user must not change the form.
	g.Run(dir, "config", "log.showSignature", "true")
	g.Run(dir, "config", "color.ui", "always")
	g.Run(dir, "config", "log.decorate", "full")
	g.Commit(dir, "first")
	g.Commit(dir, "second: größer\n\nwith a body")
	third := g.Commit(dir, "third")
	when := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	got := log(2)
	want := []git.Commit{{Subject: "third", When: when}, {Subject: "second: größer", When: when}}
	for i := range want {
		want[i].Hash = got[i].Hash
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if hash := got[0].Hash; len(hash) < 7 || third[:len(hash)] != hash {
		t.Errorf("hash %q is no beginning of %q", hash, third)
	}
	if got := log(10); len(got) != 3 {
		t.Errorf("all: %v", got)
	}
}

// Git compares the last commit of a shallow clone with an empty tree, so it shows each file as
// changed. The commit is marked instead.
func TestLogOfShallowClone(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	for _, name := range []string{"one", "two", "three"} {
		gittest.Write(t, filepath.Join(dir, name), name)
		g.Run(dir, "add", ".")
		g.Run(dir, "commit", "-q", "-m", name)
	}
	base := gittest.Dir(t)
	g.Run(base, "clone", "-q", "--depth=2", "file://"+filepath.ToSlash(dir), "clone")
	g.Run(filepath.Join(base, "clone"), "worktree", "add", "-q", "../linked")
	for _, name := range []string{"clone", "linked"} {
		commits, err := discover(t, g, filepath.Join(base, name)).Log(t.Context(), 5)
		if err != nil || len(commits) != 2 {
			t.Fatalf("%s: got %+v, %v", name, commits, err)
		}
		if newest := commits[0]; newest.Boundary || !slices.Equal(newest.Files, []string{"three"}) {
			t.Errorf("%s: the newest commit is %+v", name, newest)
		}
		if last := commits[1]; !last.Boundary || last.Files != nil {
			t.Errorf("%s: the last commit is %+v", name, last)
		}
	}
	if first := func() git.Commit { c, _ := discover(t, g, dir).Log(t.Context(), 5); return c[2] }(); first.Boundary || len(first.Files) == 0 {
		t.Errorf("the first commit of a whole clone is %+v", first)
	}
}

// A boundary of a shallow clone that git would sort for seconds is an error.
func TestLongBoundary(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "first")
	path := join(dir, ".git", "shallow")
	gittest.Write(t, path, strings.Repeat(strings.Repeat("1", 40)+"\n", 30_000))
	_, err := discover(t, g, dir).Log(t.Context(), 1)
	broken, ok := errors.AsType[*git.BrokenError](err)
	if !ok || broken.Path != path {
		t.Errorf("error is %v, want a *BrokenError about %q", err, path)
	}
}

// References in refs/replace do not change what copse shows.
func TestReplaced(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := g.Init()
	g.Commit(dir, "original")
	g.Run(dir, "checkout", "-q", "-b", "other")
	g.Commit(dir, "replacement")
	g.Run(dir, "replace", "main", "other")
	g.Run(dir, "checkout", "-q", "main")
	commits, err := discover(t, g, dir).Log(t.Context(), 1)
	if err != nil || len(commits) != 1 || commits[0].Subject != "original" {
		t.Errorf("got %+v, %v", commits, err)
	}
}
