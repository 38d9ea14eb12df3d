package verdict

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/session"
)

// MaxBranches is the maximum number of examined branches of a stack.
const MaxBranches = 50

// shape contains the branches of a stack, and their structure.
type shape struct {
	branches []Branch
	trunk    string
	left     int // branches that are left out
	notes    []string
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

// shape returns the stack of start, of the current branch if it is "".
func (v *Verdicts) shape(ctx context.Context, view *session.View, start string) (shape, error) {
	// A branch without any record has a pull request, too.
	state, notes, err := v.o.Branches.Whole(ctx)
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
	names, err := view.Branches(ctx)
	if err != nil {
		return shape{}, err
	}
	current := view.Current(ctx) // even before its first commit
	has := func(name string) bool {
		_, ok := slices.BinarySearch(names, name)
		return ok || name == current && name != ""
	}
	if !has(start) && !state.Known(start) {
		refs, err := view.Refs(ctx)
		if err != nil {
			return shape{}, err
		}
		return shape{}, stackNotFound(branch.NotFound(state, refs, start))
	}
	out := walk(state, standard, start, has)
	out.notes = notes
	return out, nil
}

func stackNotFound(err *branch.NotFoundError) error {
	do := "Pass one of git's branches."
	if len(err.Nearest) > 0 {
		do = "The nearest names are: " + strings.Join(err.Nearest, ", ") + "."
	}
	return failure.New(failure.NotFound, fmt.Sprintf("Branch '%s' not found", err.Branch), do)
}

// walker follows the edges of a state. It skips branches that git does not have, except the
// requested one.
type walker struct {
	state    *twig.State
	first    edges
	standard string // git's default branch
	has      func(string) bool
	// found is the next branch below one that git does not have.
	found map[string]string
}

// walk follows the edges from start down to the trunk, and from there up through start to all
// branches that are stacked on it.
func walk(state *twig.State, standard, start string, has func(string) bool) shape {
	w := walker{state: state, first: edgesOf(state), standard: standard, has: has, found: map[string]string{}}
	var out shape
	var names []string
	out.trunk, names = w.down(start)
	names = up(w.children(), start, out.trunk, names)
	if out.trunk == "" {
		out.trunk = standard
	}
	if len(names) > MaxBranches {
		out.left = len(names) - MaxBranches
		names = names[:MaxBranches]
	}
	for _, name := range names {
		out.branches = append(out.branches, w.branch(name))
	}
	return out
}

// root reports whether a stack ends at a branch.
func (w walker) root(name string) bool {
	_, stacked := w.first[name]
	return w.state.IsRoot(name) || name == w.standard && !stacked
}

// parent returns the next branch below one that git has, or that is a root, "" if there is none;
// and the recorded parent, if that differs.
func (w walker) parent(name string) (parent, stale string) {
	edge, ok := w.first[name]
	if !ok {
		return "", ""
	}
	parent = w.living(edge.Parent)
	switch {
	case parent == name:
		return "", edge.Parent
	case parent != edge.Parent:
		return parent, edge.Parent
	}
	return parent, edge.Stale
}

// living returns a branch itself if git has it, or it is a root, and otherwise the next such branch
// below it; the trunk if there is none.
func (w walker) living(name string) string {
	var passed []string
	at := name
	for !w.root(at) && !w.has(at) {
		if below, known := w.found[at]; known {
			at = below
			break
		}
		w.found[at] = w.standard // if it is met again, or nothing is below it
		passed = append(passed, at)
		edge, ok := w.first[at]
		if !ok {
			at = w.standard
			break
		}
		at = edge.Parent
	}
	for _, p := range passed {
		w.found[p] = at
	}
	return at
}

// down returns the trunk, "" if there is none, and the branches from there up to start.
func (w walker) down(start string) (trunk string, names []string) {
	if w.root(start) {
		return start, nil
	}
	met := map[string]bool{}
	for at := start; at != "" && !met[at]; {
		met[at] = true
		names = append(names, at)
		if at, _ = w.parent(at); at != "" && w.root(at) {
			trunk = at
			break
		}
	}
	slices.Reverse(names)
	return trunk, names
}

// children returns the branches that are stacked on each branch.
func (w walker) children() map[string][]string {
	children := make(map[string][]string, len(w.first))
	met := make(map[string]bool, len(w.first))
	for _, d := range w.state.Dependencies {
		if met[d.Child] || w.root(d.Child) || !w.has(d.Child) {
			continue
		}
		met[d.Child] = true
		if parent, _ := w.parent(d.Child); parent != "" {
			children[parent] = append(children[parent], d.Child)
		}
	}
	return children
}

// up adds the branches that are stacked on start, each before those on it.
func up(children map[string][]string, start, trunk string, names []string) []string {
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
		for _, child := range slices.Backward(children[at]) {
			if !seen[child] {
				todo = append(todo, child)
			}
		}
	}
	return names
}

// branch returns the state's data about a branch.
func (w walker) branch(name string) Branch {
	b := Branch{Branch: name, Missing: !w.has(name)}
	if edge, ok := w.first[name]; ok {
		b.Parent, b.Stale = w.parent(name)
		b.Source = cmp.Or(edge.Source, source)
		if b.Stale == "" {
			b.base = edge.BaseHash
		}
	}
	meta := w.state.Metadata(name)
	if meta.JiraIssue != "" {
		b.Jira = &Issue{Key: meta.JiraIssue}
	}
	b.PullRequest.Number = int(meta.PRNumber)
	return b
}

// source is the source of an edge without one.
const source = "twig"
