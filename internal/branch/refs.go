package branch

import (
	"slices"

	"github.com/copse-dev/copse/internal/branch/twig"
)

// Refs is what git says about the branches of a repository.
type Refs struct {
	local         []string // sorted by bytes
	defaultBranch string
	current       string
}

// NewRefs takes the names of the local branches, the branch that git calls default, and the branch
// that is checked out, whether it has a commit yet or not. The last two are empty when there is
// none. The names must not be changed afterward; names that are sorted by bytes, as git lists them,
// are not copied.
func NewRefs(local []string, defaultBranch, current string) Refs {
	if !slices.IsSorted(local) {
		local = slices.Sorted(slices.Values(local))
	}
	return Refs{local: local, defaultBranch: defaultBranch, current: current}
}

// Has returns what [Stack] asks, for refs that are at hand.
func (r Refs) Has(name string) (bool, error) { return r.Exists(name), nil }

// Exists reports whether git has the branch. The current one exists also
// before its first commit.
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
