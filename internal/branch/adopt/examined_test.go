package adopt_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/copse-dev/copse/internal/branch/adopt"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/git/history"
)

// chain returns a history of commits, each on the one before it, with branches at the last commit.
func chain(commits, branches int) history.Branches {
	h := history.Branches{Tips: map[string]string{"main": "base"}, Commits: map[string]history.Commit{}}
	tip := "base"
	for i := range commits {
		hash := fmt.Sprintf("%040x", i)
		h.Commits[hash] = history.Commit{Hash: hash, Parents: []string{tip}}
		tip = hash
	}
	for i := range branches {
		name := fmt.Sprintf("b%05d", i)
		h.Tips[name], h.Newest = tip, append(h.Newest, name)
	}
	h.Newest = append(h.Newest, "main")
	return h
}

// However many branches there are, and however many commits they share, the comparisons are
// limited, and the branches that a user names are examined.
func TestExamined(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ commits, branches, want int }{
		{1, 10, 11},
		{1, 4000, 1000},
		{5000, 400, 64}, // 5000 commits of 63 branches, each compared with 63, and main
	} {
		h := chain(c.commits, c.branches)
		last := h.Newest[c.branches-1]
		got := adopt.Examined(h, []string{last, "main", "gone"})
		if len(got) != c.want || got[0] != last || got[2] != "b00000" || !slices.Contains(got, "main") {
			t.Errorf("%d branches with %d commits: %d examined, want %d, the first ones %q", c.branches, c.commits, len(got), c.want, got[:3])
		}
	}
	h := chain(1, 1200)
	k := adopt.Known{State: &twig.State{}, Root: "main", Roots: []string{"main"}, History: h, Examined: adopt.Examined(h, []string{"main"})}
	if got := adopt.Propose(k); len(got) != 999 || got[998].Parent.Value != "b00000" {
		t.Errorf("%d proposals, the last one %+v", len(got), got[len(got)-1])
	}
}
