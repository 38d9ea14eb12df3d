package history_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/history"
)

// Gaps agree with git's own count, in histories with merges and without a common beginning.
func TestGaps(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := t.TempDir()
	g.Run(dir, "init", "-q", "-b", "main")
	random := rand.New(rand.NewPCG(1, 2))
	tree := strings.TrimSpace(g.Run(dir, "write-tree"))
	var commits []string
	for i := range 30 {
		args := []string{"commit-tree", tree, "-m", strings.Repeat("x", i+1)}
		for range min(len(commits), 1+random.IntN(2)) {
			if i != 7 { // a second beginning
				args = append(args, "-p", commits[random.IntN(len(commits))])
			}
		}
		commits = append(commits, strings.TrimSpace(g.Run(dir, args...)))
	}
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	var pairs []history.Pair
	for range 40 {
		pairs = append(pairs, history.Pair{Commit: commits[random.IntN(30)], Base: commits[random.IntN(30)]})
	}
	for _, some := range [][]history.Pair{pairs, pairs[:1], nil} {
		got, err := history.Gaps(t.Context(), repo.Program(), some)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range some {
			want := strings.Fields(g.Run(dir, "rev-list", "--left-right", "--count", p.Commit+"..."+p.Base))
			if gap := got[p]; gap.Ahead != atoi(t, want[0]) || gap.Behind != atoi(t, want[1]) {
				t.Errorf("%v: got %+v, want %v", p, gap, want)
			}
		}
	}
	if _, err := history.Gaps(t.Context(), repo.Program(), []history.Pair{{Commit: commits[0], Base: strings.Repeat("1", 40)}}); err == nil {
		t.Error("a commit that is not there was compared")
	}
}

func atoi(t *testing.T, text string) int {
	t.Helper()
	n := 0
	for _, r := range text {
		n = 10*n + int(r-'0')
	}
	return n
}
