// Package stack is what every surface shares about branches: the current one, what a
// branch is linked to, the tree of branches, the stack of one, and the worktrees.
//
// Use [New]. Each method reads one consistent view of the repository. Results are
// whole; a surface cuts them to its size. Errors are [failure.Error]s.
package stack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/session"
)

// Branches answers for the branches of one repository.
type Branches struct {
	session  *session.Session
	recorded Recorded
}

// Recorded knows what other tools than twig record about branches.
type Recorded interface {
	// State returns it as a state, for the branches that exist, and what is wrong with
	// the records.
	State(ctx context.Context, repo *git.Repo, exists func(string) bool) (*twig.State, []string, error)
}

// New returns the branches of a session's repository. Where it has no state, what other
// tools recorded takes its place; recorded can be nil.
func New(s *session.Session, recorded Recorded) *Branches {
	return &Branches{session: s, recorded: recorded}
}

// stateOf returns the state, or what stands for it.
func (b *Branches) stateOf(ctx context.Context, v *session.View) (*twig.State, error) {
	state, err := v.State(ctx)
	if b.recorded == nil || !errors.Is(err, twig.ErrNoState) {
		return state, err
	}
	if found, _, ok := b.records(ctx, v); ok && len(found.Dependencies) > 0 {
		return found, nil
	}
	return state, err
}

// records returns what other tools recorded, and whether it could be read.
func (b *Branches) records(ctx context.Context, v *session.View) (*twig.State, []string, bool) {
	repo, err := v.Repo(ctx)
	if err != nil {
		return nil, nil, false
	}
	names, err := v.Branches(ctx)
	if err != nil {
		return nil, nil, false
	}
	current := v.Current(ctx)
	found, notes, err := b.recorded.State(ctx, repo, func(name string) bool {
		_, ok := slices.BinarySearch(names, name)
		return ok || name == current && name != ""
	})
	return found, notes, err == nil
}

// Recorded returns what other tools than twig record about the branches, whether or not
// there is a state; nil for nothing.
func (b *Branches) Recorded(ctx context.Context) *twig.State {
	if b.recorded == nil {
		return nil
	}
	found, _, ok := b.records(ctx, b.session.View())
	if !ok || len(found.Dependencies) == 0 {
		return nil
	}
	return found
}

// Session returns the session that the branches are read from.
func (b *Branches) Session() *session.Session { return b.session }

// Checkout is the branch that is worked on, and what is linked to it.
type Checkout struct {
	twig.Metadata
	// Operation is the git command that stopped halfway. While it rebases or bisects,
	// the branch is the one that it is about.
	Operation *operation.Operation `json:"operation,omitempty"`
}

// Current returns the branch that is worked on, and what is linked to it. Without a
// readable state it is the name alone.
func (b *Branches) Current(ctx context.Context) (Checkout, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) (Checkout, error) {
		name, err := v.Branch(ctx)
		if err != nil {
			return Checkout{}, err
		}
		going, err := v.Operation(ctx)
		if err != nil {
			return Checkout{}, err
		}
		if name == "" {
			return Checkout{}, detached(going, "Not on any branch (detached HEAD state)", "Check out a branch, or use a tool that takes one.")
		}
		out := Checkout{Metadata: twig.Metadata{Branch: name}, Operation: going}
		if state, err := b.stateOf(ctx, v); err == nil {
			out.Metadata = state.Metadata(name)
		}
		return out, nil
	})
}

// detached returns the error of a call that needs a branch where none is checked out.
func detached(going *operation.Operation, what, do string) error {
	if going != nil {
		do = fmt.Sprintf("Git is %s. %s", going, do)
	}
	return failure.New(failure.NotFound, what, do)
}

// Metadata returns what is linked to a branch that the state knows.
func (b *Branches) Metadata(ctx context.Context, name string) (twig.Metadata, error) {
	state, err := b.State(ctx)
	if err != nil {
		return twig.Metadata{}, err
	}
	if !state.Known(name) {
		return twig.Metadata{}, &failure.Error{
			Kind: failure.NotFound,
			What: failure.Text(fmt.Sprintf("Branch '%s' not found in twig state", name)),
			Do:   tracked,
		}
	}
	return state.Metadata(name), nil
}

// tracked is where the branches that the state knows are listed.
func tracked(w failure.Words) string {
	return fmt.Sprintf("Use `%s` to see tracked branches.", w.Branches)
}

// State returns the branch state.
func (b *Branches) State(ctx context.Context) (*twig.State, error) {
	return b.stateOf(ctx, b.session.View())
}

// Note returns what a reader of the state should know, "" for nothing: two programs kept
// two states in one repository, of which only one counts here.
func (b *Branches) Note(ctx context.Context) string {
	v := b.session.View()
	dir, hides, err := v.StatePlace(ctx)
	if err != nil {
		return ""
	}
	if hides == "" {
		return b.recordNote(ctx, v)
	}
	return cleantext.Line(fmt.Sprintf("There are two states: %s counts in this worktree and hides that of %s. Keep one and delete the other.",
		twig.Path(dir), hides))
}

// recordNote says what is wrong with the records that stand for a state.
func (b *Branches) recordNote(ctx context.Context, v *session.View) string {
	if b.recorded == nil {
		return ""
	}
	if _, err := v.State(ctx); !errors.Is(err, twig.ErrNoState) {
		return ""
	}
	_, notes, _ := b.records(ctx, v)
	return cleantext.Line(strings.Join(notes, "; "))
}

// Refs returns what git says about the branches.
func (b *Branches) Refs(ctx context.Context) (branch.Refs, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) (branch.Refs, error) {
		return v.Refs(ctx)
	})
}

// Checked returns the branch that is checked out, "" where there is none.
func (b *Branches) Checked(ctx context.Context) string { return b.session.View().Current(ctx) }

// Names returns the branches of git and of the state, sorted by bytes.
func (b *Branches) Names(ctx context.Context) ([]string, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) ([]string, error) {
		names, err := v.Branches(ctx)
		if err != nil {
			return nil, err
		}
		if state, err := b.stateOf(ctx, v); err == nil {
			names = append(slices.Clone(names), state.Names()...)
			slices.Sort(names)
			names = slices.Compact(names)
		}
		return names, nil
	})
}

// Forest is the tree of one root, and where the other branches are.
type Forest struct {
	*branch.Tree
	// OtherRoots begin further trees; none where a certain root was asked for.
	OtherRoots []string
	// CurrentRoot is the root that shows the branch checked out, if the tree does not:
	// another root, or that branch itself where the tree had to be cut.
	CurrentRoot string
}

// Forest returns the tree of a root, of the home root if it is "", cut to limit.
func (b *Branches) Forest(ctx context.Context, root string, limit branch.Limit) (Forest, error) {
	graph, err := b.Graph(ctx)
	if err != nil {
		return Forest{}, err
	}
	tree, err := graph.Tree(root, limit)
	if err != nil {
		return Forest{}, explain(err)
	}
	out := Forest{Tree: tree}
	if root != "" {
		return out, nil
	}
	if roots := graph.Roots(); len(roots) > 1 {
		out.OtherRoots = roots[1:]
	}
	if !tree.Root.HasCurrent() {
		out.CurrentRoot = graph.RootOfCurrent(tree.Root.Branch)
	}
	return out, nil
}

// Trees returns the whole trees of all roots, the home root first, or that of one root.
func (b *Branches) Trees(ctx context.Context, root string) ([]*branch.Node, error) {
	graph, err := b.Graph(ctx)
	if err != nil {
		return nil, err
	}
	roots := []string{root}
	if root == "" && len(graph.Roots()) > 0 {
		roots = graph.Roots()
	}
	var trees []*branch.Node
	for _, root := range roots {
		tree, err := graph.Tree(root, branch.Limit{})
		if err != nil {
			return nil, explain(err)
		}
		trees = append(trees, tree.Root)
	}
	return trees, nil
}

// Graph returns all branches and how they are stacked. State and refs are read at the
// same time: in a large repository of which nothing is known yet, each takes a while.
func (b *Branches) Graph(ctx context.Context) (*branch.Graph, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) (*branch.Graph, error) {
		var (
			state   *twig.State
			refs    branch.Refs
			reading errgroup.Group
		)
		reading.Go(func() (err error) {
			state, err = b.stateOf(ctx, v)
			return err
		})
		reading.Go(func() (err error) {
			refs, err = v.Refs(ctx)
			return err
		})
		if err := reading.Wait(); err != nil {
			return nil, err
		}
		return branch.NewGraph(state, refs), nil
	})
}

// Stack returns the stack from start, from the branch checked out if it is "", up to
// its root. Git is asked for no more branches than the stack has, unless start is
// unknown and similar names are looked for.
func (b *Branches) Stack(ctx context.Context, start string) ([]branch.Entry, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) ([]branch.Entry, error) {
		start := start
		if start == "" {
			var err error
			if start, err = v.Branch(ctx); err != nil {
				return nil, err
			}
			if start == "" {
				going, err := v.Operation(ctx)
				if err != nil {
					return nil, err
				}
				return nil, detached(going, "Not on any branch (detached HEAD)", "Pass a branch.")
			}
		}
		state, err := b.stateOf(ctx, v)
		if err != nil {
			return nil, err
		}
		stack, err := branch.Stack(state, func(name string) (bool, error) { return v.HasBranch(ctx, name) }, start)
		if _, unknown := errors.AsType[*branch.NotFoundError](err); unknown {
			refs, err := v.Refs(ctx)
			if err != nil {
				return nil, err
			}
			return nil, explain(branch.NotFound(state, refs, start))
		}
		return stack, session.Explain(err)
	})
}

// explain returns an error of package branch as a failure.
func explain(err error) error {
	switch {
	case errors.Is(err, branch.ErrNoBranches):
		return failure.New(failure.NotFound, "No branches found in repository", "Make a first commit.")
	case errors.Is(err, branch.ErrNoRoot):
		return failure.New(failure.NotFound, "No root branch found in repository", "Pass a branch as the root.")
	}
	unknown, ok := errors.AsType[*branch.NotFoundError](err)
	if !ok {
		return err
	}
	do := failure.Phrase(tracked)
	if len(unknown.Nearest) > 0 {
		do = failure.Text("The nearest names are: " + strings.Join(unknown.Nearest, ", ") + ".")
	}
	return &failure.Error{Kind: failure.NotFound, What: failure.Text(fmt.Sprintf("Branch '%s' not found", unknown.Branch)), Do: do}
}
