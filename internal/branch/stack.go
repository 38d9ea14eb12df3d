package branch

import "github.com/copse-dev/copse/internal/branch/twig"

// Entry is a branch of a stack.
type Entry struct {
	twig.Metadata
	// Missing means that the branch is declared, but git does not have it.
	Missing bool `json:"missing,omitempty"`
}

// Stack returns the branches from start, index 0, by the first parent of each, up to the first one
// that is a root, has no parent, is missing, or whose parent is already in the stack. has reports
// whether git has a branch, including the current one. Stack calls it once for each branch of the
// stack, and for no other. The error is one of has, or a [*NotFoundError] without the nearest
// names, which [NotFound] finds.
func Stack(state *twig.State, has func(name string) (bool, error), start string) ([]Entry, error) {
	var stack []Entry
	met := make(map[string]bool)
	for name, more := start, true; more && !met[name]; name, more = state.Parent(name) {
		met[name] = true
		exists, err := has(name)
		if err != nil {
			return nil, err
		}
		if !exists && name == start && !state.Known(start) {
			return nil, &NotFoundError{Branch: start}
		}
		stack = append(stack, Entry{Metadata: state.Metadata(name), Missing: !exists})
		if !exists || state.IsRoot(name) {
			break
		}
	}
	return stack, nil
}

// NotFound returns the error for a branch that neither git nor the state knows, with the nearest
// names.
func NotFound(state *twig.State, refs Refs, name string) *NotFoundError {
	return &NotFoundError{Branch: name, Nearest: nearest(name, Names(state, refs))}
}
