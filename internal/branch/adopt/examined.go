package adopt

import (
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/git/history"
)

const (
	// maxExamined is the maximum number of branches that are compared with each other.
	maxExamined = 1000
	// maxComparisons is the maximum number of commits that such comparisons count.
	maxComparisons = 20_000_000
)

// Examined returns the branches to compare with each other: those in always, then the others, that
// with the newest commit first, while the comparisons are not too many.
func Examined(h history.Branches, always []string) []string {
	var names []string
	met := make(map[string]bool)
	holders := make(map[string]int) // by commit: how many of names have it
	comparisons := 0
	for i, name := range slices.Concat(always, h.Newest) {
		if _, exists := h.Tips[name]; !exists || met[name] {
			continue
		}
		met[name] = true
		commits := reach(h, name)
		for hash := range commits {
			comparisons += 2*holders[hash] + 1
		}
		if i >= len(always) && (len(names) >= maxExamined || comparisons > maxComparisons) {
			break
		}
		for hash := range commits {
			holders[hash]++
		}
		names = append(names, name)
	}
	return names
}

func (k Known) examined() []string {
	if len(k.Examined) > 0 {
		return k.Examined
	}
	return slices.Collect(maps.Keys(k.History.Tips))
}

// reach returns the commits of a branch that no root has.
func reach(h history.Branches, name string) map[string]bool {
	found := make(map[string]bool)
	for next := []string{h.Tips[name]}; len(next) > 0; {
		hash := next[len(next)-1]
		next = next[:len(next)-1]
		commit, ok := h.Commits[hash]
		if !ok || found[hash] {
			continue
		}
		found[hash] = true
		next = append(next, commit.Parents...)
	}
	return found
}
