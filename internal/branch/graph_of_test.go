package branch_test

import (
	"testing"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
)

// A graph is used again only for the state and the branches that it was made of.
func TestGraphOf(t *testing.T) {
	t.Parallel()
	state := twig.NewState(twig.Document{})
	graph := branch.NewGraph(state, branch.NewRefs([]string{"a", "b"}, "a", "b"))
	for name, tt := range map[string]struct {
		state *twig.State
		refs  branch.Refs
		want  bool
	}{
		"the same":         {state, branch.NewRefs([]string{"b", "a"}, "a", "b"), true},
		"another state":    {twig.NewState(twig.Document{}), branch.NewRefs([]string{"a", "b"}, "a", "b"), false},
		"a new branch":     {state, branch.NewRefs([]string{"a", "b", "c"}, "a", "b"), false},
		"a renamed branch": {state, branch.NewRefs([]string{"a", "c"}, "a", "b"), false},
		"another default":  {state, branch.NewRefs([]string{"a", "b"}, "b", "b"), false},
		"another checkout": {state, branch.NewRefs([]string{"a", "b"}, "a", "a"), false},
	} {
		if got := graph.Of(tt.state, tt.refs); got != tt.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
