package branch

import "github.com/copse-dev/copse/internal/branch/twig"

// Entry is a branch of a stack.
type Entry struct {
	twig.Metadata
	// Missing says that the branch is declared but git does not have it.
	Missing bool `json:"missing,omitempty"`
}

// Stack returns the branches from start, index 0, by the first parent of each
// up to the first that is a root, that has no parent, that is missing, or whose
// parent is in the stack already. The error is a [*NotFoundError].
func Stack(state *twig.State, refs Refs, start string) ([]Entry, error) {
	if !refs.exists(start) && !state.Known(start) {
		return nil, &NotFoundError{Branch: start, Nearest: nearest(start, allNames(state, refs))}
	}
	var stack []Entry
	met := make(map[string]bool)
	for name, more := start, true; more && !met[name]; name, more = state.Parent(name) {
		met[name] = true
		missing := !refs.exists(name)
		stack = append(stack, Entry{Metadata: state.Metadata(name), Missing: missing})
		if missing || state.IsRoot(name) {
			break
		}
	}
	return stack, nil
}
