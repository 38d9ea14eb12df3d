package history

import (
	"cmp"
	"slices"
)

// maxTips is the number of a branch's last tips among which Fork searches.
const maxTips = 50

// Fork returns the tip that a parent had when a branch was last stacked on it, if the parent has
// replaced that commit since, by an amended commit or a rebase; "" if it has not, or if that is
// unknown. tip and base are the commits of the branch and of its parent, and gaps compares commits.
//
// The commits of the branch itself come after the result. A commit that the parent made and gave up
// by going back is not one of its own: who commits on the wrong branch makes a branch for
// the commit, and resets the first one.
func Fork(branch, parent Log, tip, base string, gaps func([]Pair) (map[Pair]Gap, error)) (string, error) {
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
		givenUp := func(later string) bool { return back[Pair{old, later}].Behind == 0 }
		if !slices.ContainsFunc(after(tips, old), givenUp) {
			return old, nil
		}
	}
	return "", nil
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
