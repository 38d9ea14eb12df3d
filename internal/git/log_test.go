package git_test

import (
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
