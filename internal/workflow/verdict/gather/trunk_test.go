package gather_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/copse-dev/copse/internal/branch/source/records"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/conflicts"
	"github.com/copse-dev/copse/internal/workflow/stack"
	"github.com/copse-dev/copse/internal/workflow/verdict/gather"
)

// A trunk has its distance from the remote branch, the time of the last fetch from any worktree, and
// the worktree that has it.
func TestTrunk(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	origin := g.Init()
	g.Run(origin, "commit", "-q", "--allow-empty", "-m", "start")
	dir := filepath.Join(t.TempDir(), "clone")
	g.Run(origin, "clone", "-q", origin, dir)
	g.Run(dir, "branch", "feature")
	gittest.Write(t, dir+"/new.txt", "new\n")
	o := git.Options{Env: g.Env}
	branches := stack.New(session.New(session.Options{Dir: dir, Git: o}), records.New(records.Options{}))
	v := gather.New(gather.Options{
		Branches: branches, Now: time.Now,
		Radar: conflicts.New(conflicts.Options{Branches: branches, Git: o, Now: time.Now}),
	})
	trunk := func() gather.Trunk {
		t.Helper()
		all, err := v.All(t.Context(), gather.Selection{}, gather.Cached)
		if err != nil {
			t.Fatal(err)
		}
		return all.Trunks["main"]
	}
	if got := trunk(); got.Remote != "origin/main" || *got.Unpushed != 0 || got.Unpulled != 0 || !got.Fetched.IsZero() || !got.Current ||
		got.Worktree == nil || got.Worktree.Path != dir || *got.Worktree.Dirty != 1 {
		t.Errorf("after the clone: %+v", got)
	}
	g.Run(origin, "commit", "-q", "--allow-empty", "-m", "theirs")
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "mine")
	g.Run(dir, "commit", "-q", "--allow-empty", "-m", "mine, too")
	g.Run(dir, "worktree", "add", "-q", filepath.Join(t.TempDir(), "linked"), "feature")
	g.Run(dir, "fetch", "-q")
	early, late := time.Now().Add(-time.Hour), time.Now().Add(-time.Minute)
	linked := filepath.Join(dir, ".git", "worktrees", "linked", "FETCH_HEAD")
	gittest.Write(t, linked, "")
	for path, at := range map[string]time.Time{filepath.Join(dir, ".git", "FETCH_HEAD"): early, linked: late} {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if got := trunk(); *got.Unpushed != 2 || got.Unpulled != 1 || !got.Fetched.Truncate(time.Second).Equal(late.Truncate(time.Second)) {
		t.Errorf("after a fetch: %+v", got)
	}
	status, err := v.Stack(t.Context(), "feature", gather.Cached)
	if err != nil || !slices.Contains(status.Notes, "main is 1 commit behind origin/main") {
		t.Errorf("%q, %v", status.Notes, err)
	}
}
