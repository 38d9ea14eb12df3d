package branch

import (
	"slices"

	"github.com/copse-dev/copse/internal/branch/twig"
)

// Refs are the branches of a repository in git.
type Refs struct {
	local         []string // sorted by bytes
	defaultBranch string
	current       string
}

// NewRefs takes the names of the local branches, git's default branch, and the current branch,
// whether it has a commit yet or not. The last two are empty if there is none. The caller must not
// change the names afterward. NewRefs does not copy names that are sorted by bytes, as git lists
// them.
func NewRefs(local []string, defaultBranch, current string) Refs {
	if !slices.IsSorted(local) {
		local = slices.Sorted(slices.Values(local))
	}
	return Refs{local: local, defaultBranch: defaultBranch, current: current}
}

// Has implements the interface of [Stack] with refs in memory.
func (r Refs) Has(name string) (bool, error) { return r.Exists(name), nil }

// Exists reports whether git has the branch. The current branch exists even before its first
// commit.
func (r Refs) Exists(name string) bool {
	_, found := slices.BinarySearch(r.local, name)
	return found || r.isCurrent(name)
}

func (r Refs) isCurrent(name string) bool { return name != "" && name == r.current }

// Names returns every branch of the state and of git, sorted by bytes.
func Names(state *twig.State, refs Refs) []string {
	declared, local := state.Names(), refs.local
	names := make([]string, 0, len(declared)+len(local)+1)
	for len(declared) > 0 && len(local) > 0 {
		if declared[0] <= local[0] {
			names, declared = append(names, declared[0]), declared[1:]
		} else {
			names, local = append(names, local[0]), local[1:]
		}
	}
	names = slices.Compact(append(append(names, declared...), local...))
	if at, found := slices.BinarySearch(names, refs.current); !found && refs.current != "" {
		names = slices.Insert(names, at, refs.current)
	}
	return names
}
