package verdict

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/session"
)

// MaxBranches is how many branches of a stack are looked at.
const MaxBranches = 50

// shape is which branches a stack has, and how they hang together.
type shape struct {
	branches []Branch
	trunk    string
	left     int // branches that are left out
}

// edges are the first edges of branches, by child.
type edges map[string]twig.Dependency

func edgesOf(state *twig.State) edges {
	first := make(edges, len(state.Dependencies))
	for _, d := range state.Dependencies {
		if _, known := first[d.Child]; !known {
			first[d.Child] = d
		}
	}
	return first
}

// shape returns the stack of start, of the branch that is worked on if it is "".
func (v *Verdicts) shape(ctx context.Context, view *session.View, start string) (shape, error) {
	state, err := v.o.Branches.State(ctx)
	if errors.Is(err, twig.ErrNoState) {
		state, err = &twig.State{}, nil // a branch without records has a pull request, too
	}
	if err != nil {
		return shape{}, err
	}
	standard, err := view.Default(ctx)
	if err != nil {
		return shape{}, err
	}
	if start == "" {
		if start, err = view.Branch(ctx); err != nil {
			return shape{}, err
		}
		if start == "" {
			return shape{}, failure.New(failure.NotFound, "Not on any branch (detached HEAD)", "Pass a branch.")
		}
	}
	exists, err := view.HasBranch(ctx, start)
	if err != nil {
		return shape{}, err
	}
	if !exists && !state.Known(start) {
		refs, err := view.Refs(ctx)
		if err != nil {
			return shape{}, err
		}
		return shape{}, stackNotFound(branch.NotFound(state, refs, start))
	}
	return walk(state, standard, start, func(name string) (bool, error) { return view.HasBranch(ctx, name) })
}

func stackNotFound(err *branch.NotFoundError) error {
	do := "Pass one of git's branches."
	if len(err.Nearest) > 0 {
		do = "The nearest names are: " + strings.Join(err.Nearest, ", ") + "."
	}
	return failure.New(failure.NotFound, fmt.Sprintf("Branch '%s' not found", err.Branch), do)
}

// walker follows the edges of a state.
type walker struct {
	state    *twig.State
	first    edges
	standard string // the branch that git takes for the trunk
}

// walk follows the edges from start down to the trunk, and from there up through start to
// all that is stacked on it.
func walk(state *twig.State, standard, start string, has func(string) (bool, error)) (shape, error) {
	w := walker{state, edgesOf(state), standard}
	var out shape
	var names []string
	out.trunk, names = w.down(start)
	names = w.up(start, out.trunk, names)
	if out.trunk == "" {
		out.trunk = standard
	}
	if len(names) > MaxBranches {
		out.left = len(names) - MaxBranches
		names = names[:MaxBranches]
	}
	for _, name := range names {
		exists, err := has(name)
		if err != nil {
			return shape{}, err
		}
		b := w.branch(name)
		b.Missing = !exists
		out.branches = append(out.branches, b)
	}
	return out, nil
}

// root reports whether a stack ends at a branch.
func (w walker) root(name string) bool {
	_, stacked := w.first[name]
	return w.state.IsRoot(name) || name == w.standard && !stacked
}

// down returns the trunk, "" if there is none, and the branches from there up to start.
func (w walker) down(start string) (trunk string, names []string) {
	if w.root(start) {
		return start, nil
	}
	met := map[string]bool{}
	for at := start; !met[at]; {
		met[at] = true
		names = append(names, at)
		edge, ok := w.first[at]
		if !ok {
			break
		}
		if at = edge.Parent; w.root(at) {
			trunk = at
			break
		}
	}
	slices.Reverse(names)
	return trunk, names
}

// up adds the branches that are stacked on start, each before those on it.
func (w walker) up(start, trunk string, names []string) []string {
	seen := map[string]bool{trunk: true}
	for _, name := range names {
		seen[name] = true
	}
	for todo := []string{start}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !seen[at] {
			seen[at] = true
			names = append(names, at)
		}
		for _, child := range slices.Backward(w.state.Children(at)) {
			if w.first[child].Parent == at && !seen[child] && !w.root(child) {
				todo = append(todo, child)
			}
		}
	}
	return names
}

// branch returns what the state says of a branch.
func (w walker) branch(name string) Branch {
	b := Branch{Branch: name}
	if edge, ok := w.first[name]; ok {
		b.Parent, b.Source, b.base = edge.Parent, edge.Source, edge.BaseHash
		if b.Source == "" {
			b.Source = "twig"
		}
	}
	meta := w.state.Metadata(name)
	if meta.JiraIssue != "" {
		b.Jira = &Issue{Key: meta.JiraIssue}
	}
	b.PullRequest.Number = int(meta.PRNumber)
	return b
}
