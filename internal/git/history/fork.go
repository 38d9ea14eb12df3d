package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/program"
)

// maxTips is the number of a branch's last tips among which Fork searches.
const maxTips = 50

// Fork returns the tip that a parent had when a branch was last stacked on it, if the parent has
// replaced that commit since, by an amended commit, a rebase, or a reset and a new commit; "" if it
// has not, or if that is unknown. tip and base are the commits of the branch and of its parent. Gaps
// compares commits, and trees returns their trees.
//
// The commits of the branch itself come after the result. A commit that the parent made and gave up
// by going back is not one of its own: who commits on the wrong branch makes a branch for
// the commit, and resets the first one. If the parent has later had the same files again, it has
// replaced the commit: git reset --soft joins commits.
func Fork(branch, parent Log, tip, base string, gaps func([]Pair) (map[Pair]Gap, error), trees func([]string) (map[string]string, error)) (string, error) {
	tips := parent.Tips[max(0, len(parent.Tips)-maxTips):]
	var pairs []Pair
	for _, old := range tips {
		own := parent.Held[old] || old == parent.Commit || old == branch.Commit || slices.Contains(branch.Onto, old)
		if own && !branch.Held[old] && old != base && old != tip {
			pairs = append(pairs, Pair{tip, old}, Pair{base, old})
		}
	}
	if len(pairs) == 0 {
		return "", nil
	}
	found, err := gaps(pairs)
	if err != nil {
		return "", err
	}
	var olds []string
	pairs = nil
	for p, gap := range found {
		if p.Commit != tip || gap.Behind > 0 || found[Pair{base, p.Base}].Behind == 0 {
			continue // not in the branch, or still in the parent
		}
		olds = append(olds, p.Base)
		for _, later := range after(tips, p.Base) {
			pairs = append(pairs, Pair{p.Base, later})
		}
	}
	if len(olds) == 0 {
		return "", nil
	}
	back, err := gaps(pairs)
	if err != nil {
		return "", err
	}
	slices.SortFunc(olds, func(a, b string) int {
		return cmp.Or(cmp.Compare(found[Pair{tip, a}].Ahead, found[Pair{tip, b}].Ahead), cmp.Compare(a, b))
	})
	for _, old := range olds {
		later := after(tips, old)
		reset := slices.IndexFunc(later, func(later string) bool { return back[Pair{old, later}].Behind == 0 })
		if reset < 0 {
			return old, nil
		}
		again := later[reset+1:]
		of, err := trees(append([]string{old, later[reset]}, again...))
		if err != nil {
			return "", err
		}
		same := func(commit string) bool { return of[commit] == of[old] }
		if of[old] != "" && !same(later[reset]) && slices.ContainsFunc(again, same) {
			return old, nil
		}
	}
	return "", nil
}

// Trees returns the trees of commits. It omits commits that git no longer has.
func Trees(ctx context.Context, git program.Git, commits []string) (map[string]string, error) {
	out, err := git.Feed(ctx, []byte(strings.Join(commits, "\n")+"\n"),
		"log", "--no-walk=unsorted", "--ignore-missing", "--stdin", "--no-color", "--no-show-signature", "--format=%H %T")
	if err != nil {
		return nil, fmt.Errorf("read the trees of commits: %w", err)
	}
	trees := make(map[string]string, len(commits))
	for line := range strings.Lines(string(out)) {
		commit, tree, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		trees[commit] = tree
	}
	return trees, nil
}

// after returns the tips that follow the last occurrence of one.
func after(tips []string, tip string) []string {
	for i, at := range slices.Backward(tips) {
		if at == tip {
			return tips[i+1:]
		}
	}
	return nil
}
