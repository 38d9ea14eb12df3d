package gather

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/lineage"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/workflow/verdict"
)

// MaxBranches is the maximum number of examined branches of a stack.
const MaxBranches = 50

// searchesOfStack and searchesOfAll are how many branches of a stack, and of an overview, are compared
// with the trunk by their changes, which starts git several times. An overview that is read again
// continues with the others.
const searchesOfStack, searchesOfAll = MaxBranches, 10

// shape contains the branches of a stack, and their structure.
type shape struct {
	branches []verdict.Branch
	trunk    string
	left     int // branches that are left out
	searches int // the maximum number of branches whose changes are searched for in the trunk
	notes    []string
}

// mark marks the current branch.
func (s shape) mark(current string) {
	for i := range s.branches {
		s.branches[i].Current = s.branches[i].Branch == current
	}
}

// shape returns the stack of start, of the current branch if it is "".
func (v *Verdicts) shape(ctx context.Context, view *session.View, start string) (shape, error) {
	// A branch without any record has a pull request, too.
	state, notes, err := v.o.Branches.WithInferred(ctx)
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
	w := lineage.New(state, standard, has)
	out := shapeOf(w, start, w.Children())
	out.notes = notes
	return out, nil
}

func stackNotFound(err *branch.NotFoundError) error {
	do := "Pass one of git's branches."
	if len(err.Nearest) > 0 {
		do = "The nearest names are: " + foreign.Mention(err.Nearest...) + "."
	}
	return failure.New(failure.NotFound, fmt.Sprintf("Branch %s not found", foreign.Branch(err.Branch)), do)
}

// shapeOf returns the shape of the stack of a branch.
func shapeOf(w *lineage.Walker, start string, above map[string][]string) shape {
	out := shape{searches: searchesOfStack}
	var names []string
	out.trunk, names = w.Stack(start, above)
	if len(names) > MaxBranches {
		out.left = len(names) - MaxBranches
		names = names[:MaxBranches]
	}
	for _, name := range names {
		out.branches = append(out.branches, describe(w, name))
	}
	return out
}

// describe returns the state's data about a branch.
func describe(w *lineage.Walker, name string) verdict.Branch {
	b := verdict.Branch{Branch: name, Missing: !w.Has(name)}
	if edge, ok := w.Edge(name); ok {
		b.Parent, b.Stale = w.Parent(name)
		b.Source = cmp.Or(edge.Source, source)
		b.Manager = edge.Manager
		if b.Stale == "" {
			b.StackedOn = edge.BaseHash
		}
	}
	meta := w.Metadata(name)
	if meta.JiraIssue != "" {
		b.Jira = &verdict.Issue{Key: meta.JiraIssue}
	}
	b.PullRequest.Number = int(meta.PRNumber)
	return b
}

// source is the source of an edge without one.
const source = "twig"
