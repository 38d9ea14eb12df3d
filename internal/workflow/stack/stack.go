// Package stack implements every surface's operations on branches: the current branch and its
// links, the tree of branches, the stack of a branch, and the worktrees.
//
// Use [New]. Each method reads one consistent view of the repository. Results are complete; a
// surface cuts them to its size. Errors are [failure.Error]s.
package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/session"
)

// Branches reads the branches of one repository.
type Branches struct {
	session  *session.Session
	recorded Recorded
	last     atomic.Pointer[branch.Graph] // the latest one, used while its branches stay the same
}

// Recorded provides other tools' records about branches.
type Recorded interface {
	// Join returns the state, nil for none, together with other tools' records about the existing
	// branches, and notes on disagreements and on unreadable records. names returns these branches,
	// sorted by bytes. With guess, it infers parents that no tool recorded. The result is the state
	// itself if nothing is added to it.
	Join(ctx context.Context, repo *git.Repo, own *twig.State, names func() ([]string, error), guess bool) (*twig.State, []string, error)
	// OwnFirst reports whether the state takes precedence over all records.
	OwnFirst() bool
}

// New returns the branches of a session's repository. What other tools recorded counts as
// well; recorded can be nil.
func New(s *session.Session, recorded Recorded) *Branches {
	return &Branches{session: s, recorded: recorded}
}

// joined is the state with other tools' records.
type joined struct {
	*twig.State
	// notes name records that disagree or are unreadable.
	notes []string
}

// parents selects the parents of branches that nobody recorded.
type parents bool

const (
	// recorded leaves these branches without a parent, unless the state tracks no branch at all.
	recorded parents = false
	// inferred adds what git's reflogs show.
	inferred parents = true
)

// stateOf returns the state, with other tools' records. The notes are valid even if there is an
// error.
func (b *Branches) stateOf(ctx context.Context, v *session.View, which parents) (joined, error) {
	state, err := v.State(ctx)
	none := errors.Is(err, twig.ErrNoState)
	if b.recorded == nil || err != nil && !none {
		return joined{State: state}, err
	}
	own := state
	if none {
		own = nil
	}
	empty := none || len(state.Dependencies)+len(state.Branches) == 0
	found, notes, failed := b.join(ctx, v, own, empty || which == inferred)
	if failed != nil || none && len(found.Dependencies) == 0 {
		return joined{state, notes}, err // the state alone is better than nothing
	}
	return joined{found, notes}, nil
}

// stateAround returns stateOf, with inferred parents, for the branches below one. It infers none if the state has
// them, and does not read records if the state has all data about these branches.
func (b *Branches) stateAround(ctx context.Context, v *session.View, name string) (joined, error) {
	state, err := v.State(ctx)
	if err != nil || b.recorded != nil && !b.recorded.OwnFirst() {
		return b.stateOf(ctx, v, inferred)
	}
	rooted, linked := complete(state, name)
	switch {
	case b.recorded == nil || rooted && linked:
		return joined{State: state}, nil
	case rooted:
		if found, notes, err := b.join(ctx, v, state, false); err == nil {
			return joined{found, notes}, nil
		}
	}
	return b.stateOf(ctx, v, inferred)
}

// complete reports whether a state has the parents of a branch down to a root, and their pull
// requests.
func complete(state *twig.State, name string) (rooted, linked bool) {
	met := map[string]bool{}
	linked = true
	for at, more := name, true; more && !met[at]; at, more = state.Parent(at) {
		if state.IsRoot(at) {
			return true, linked
		}
		linked = linked && state.Branches[at].GitHubPR != 0
		met[at] = true
	}
	return false, false
}

// join returns what other tools recorded together with the state, nil for none.
func (b *Branches) join(ctx context.Context, v *session.View, state *twig.State, guess bool) (*twig.State, []string, error) {
	repo, err := v.Repo(ctx)
	if err != nil {
		return nil, nil, err
	}
	return b.recorded.Join(ctx, repo, state, func() ([]string, error) {
		names, err := v.Branches(ctx)
		if current := v.Current(ctx); err == nil && current != "" {
			if at, known := slices.BinarySearch(names, current); !known { // before its first commit
				names = slices.Insert(slices.Clone(names), at, current)
			}
		}
		return names, err
	}, guess)
}

// WithInferred returns the state together with all that is recorded or can be inferred, an empty
// one for nothing, and notes on disagreements and on what cannot be read.
func (b *Branches) WithInferred(ctx context.Context) (*twig.State, []string, error) {
	v := b.session.View()
	state, err := v.State(ctx)
	var damaged []string
	switch {
	case err == nil:
	case errors.Is(err, twig.ErrNoState):
		state = nil
	case b.recorded == nil:
		return nil, nil, err
	default: // the other sources still answer
		state, damaged = nil, []string{"twig: " + cleantext.Cut(cleantext.Line(err.Error()), maxNote)}
	}
	if b.recorded == nil {
		if state == nil {
			state = &twig.State{}
		}
		return state, nil, nil
	}
	found, notes, err := b.join(ctx, v, state, true)
	if err != nil {
		return nil, nil, session.Explain(err)
	}
	return found, append(damaged, notes...), nil
}

// maxNote is the length of a note about a state that cannot be read.
const maxNote = 200

// Recorded returns what tools other than twig record about the branches, whether or not
// there is a state; nil for nothing.
func (b *Branches) Recorded(ctx context.Context) *twig.State {
	if b.recorded == nil {
		return nil
	}
	found, _, err := b.join(ctx, b.session.View(), nil, false)
	if err != nil || len(found.Dependencies) == 0 {
		return nil
	}
	return found
}

// Session returns the session that the branches are read from.
func (b *Branches) Session() *session.Session { return b.session }

// Checkout is the current branch, and its links.
type Checkout struct {
	twig.Metadata
	// Operation is the git command that stopped halfway. While it rebases or bisects, the branch is
	// the branch of the operation.
	Operation *operation.Operation `json:"operation,omitempty"`
}

// Current returns the current branch, and its links. Without a readable state, it returns only the
// name.
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
		if state, err := b.stateAround(ctx, v, name); err == nil {
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

// Metadata returns the links of a branch that the state knows.
func (b *Branches) Metadata(ctx context.Context, name string) (twig.Metadata, error) {
	state, err := b.State(ctx)
	if err != nil {
		return twig.Metadata{}, err
	}
	if !state.Known(name) {
		return twig.Metadata{}, &failure.Error{
			Kind: failure.NotFound,
			What: failure.Text(fmt.Sprintf("Branch %s not found in twig state", foreign.Branch(name))),
			Do:   tracked,
		}
	}
	return state.Metadata(name), nil
}

// tracked returns where the branches that the state knows are listed.
func tracked(w failure.Words) string {
	return fmt.Sprintf("Use `%s` to see tracked branches.", w.Branches)
}

// State returns the branch state, with what other tools recorded. If it tracks no branch, State
// infers parents.
func (b *Branches) State(ctx context.Context) (*twig.State, error) {
	state, err := b.stateOf(ctx, b.session.View(), recorded)
	return state.State, err
}

// Stacked returns State, with the parents by which Stack and Graph place branches: it infers one for
// each branch for which none is recorded.
func (b *Branches) Stacked(ctx context.Context) (*twig.State, error) {
	state, err := b.stateOf(ctx, b.session.View(), inferred)
	return state.State, err
}

// NotedState returns State, and a note as Note does.
func (b *Branches) NotedState(ctx context.Context) (*twig.State, string, error) {
	v := b.session.View()
	state, err := b.stateOf(ctx, v, recorded)
	if err != nil {
		return nil, "", err
	}
	return state.State, b.note(ctx, v, state.notes), nil
}

// Note returns a note for readers of the branches, "" for none: two programs stored two states in
// one repository, of which only one is used here, or records of tools disagree or are unreadable.
func (b *Branches) Note(ctx context.Context) string {
	v := b.session.View()
	state, _ := b.stateOf(ctx, v, recorded) // an error is that of the answer itself
	return b.note(ctx, v, state.notes)
}

// note returns the most important note as one line.
func (b *Branches) note(ctx context.Context, v *session.View, notes []string) string {
	return cmp.Or(b.twoStates(ctx, v), cleantext.Line(strings.Join(notes, "; ")))
}

// TwoStates reports that there are two states, "" if there are not.
func (b *Branches) TwoStates(ctx context.Context) string {
	return b.twoStates(ctx, b.session.View())
}

func (b *Branches) twoStates(ctx context.Context, v *session.View) string {
	dir, hides, err := v.StateDir(ctx)
	if err != nil || hides == "" {
		return ""
	}
	return cleantext.Line(fmt.Sprintf("There are two state files: this worktree uses %s, and ignores that of %s. Keep one and delete the other.",
		twig.Path(dir), hides))
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
		if state, err := b.stateOf(ctx, v, recorded); err == nil {
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
	// Note is the one that [Branches.Note] returns.
	Note string
	// OtherRoots begin further trees; none where a certain root was asked for.
	OtherRoots []string
	// CurrentRoot is the root that shows the branch checked out, if the tree does not:
	// another root, or that branch itself where the tree had to be cut.
	CurrentRoot string
}

// Forest returns the tree of a root, of the home root if it is "", cut to limit.
func (b *Branches) Forest(ctx context.Context, root string, limit branch.Limit) (Forest, error) {
	var note string
	graph, err := session.Read(ctx, b.session, func(ctx context.Context, v *session.View) (*branch.Graph, error) {
		graph, notes, err := b.graph(ctx, v)
		if err == nil {
			note = b.note(ctx, v, notes)
		}
		return graph, err
	})
	if err != nil {
		return Forest{}, err
	}
	tree, err := graph.Tree(root, limit)
	if err != nil {
		return Forest{}, explain(err)
	}
	out := Forest{Tree: tree, Note: note}
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

// maxTrees limits the bytes of trees as JSON and as text: the text of a deep one grows with the
// square of its depth. It fits ten thousand branches, or a stack of more than a thousand.
const maxTrees = 4 << 20

// Trees returns the trees of all roots, the home root first, or that of one root. Trees that are
// together too large for a person lose their lowest levels, and say so.
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
	left := maxTrees
	for _, root := range roots {
		tree, err := graph.Tree(root, branch.Limit{Bytes: left})
		if err != nil {
			return nil, explain(err)
		}
		left = max(left-len(tree.Root.Text()), 1)
		trees = append(trees, tree.Root)
	}
	return trees, nil
}

// Graph returns all branches and how they are stacked. State and refs are read at the
// same time: in a large repository about which nothing is known yet, each takes a while.
func (b *Branches) Graph(ctx context.Context) (*branch.Graph, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) (*branch.Graph, error) {
		graph, _, err := b.graph(ctx, v)
		return graph, err
	})
}

// graph returns Graph, and the notes of the state.
func (b *Branches) graph(ctx context.Context, v *session.View) (_ *branch.Graph, notes []string, err error) {
	var (
		state   joined
		refs    branch.Refs
		reading errgroup.Group
	)
	reading.Go(func() (err error) {
		state, err = b.stateOf(ctx, v, inferred)
		return err
	})
	reading.Go(func() (err error) {
		refs, err = v.Refs(ctx)
		return err
	})
	if err := reading.Wait(); err != nil {
		return nil, nil, err
	}
	if last := b.last.Load(); last != nil && last.Of(state.State, refs) {
		return last, state.notes, nil
	}
	graph := branch.NewGraph(state.State, refs)
	b.last.Store(graph)
	return graph, state.notes, nil
}

// Stack returns the stack from start, from the branch checked out if it is "", up to
// its root. Git is asked for no more branches than the stack has, unless start is
// unknown and similar names are looked for.
func (b *Branches) Stack(ctx context.Context, start string) ([]branch.Entry, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) ([]branch.Entry, error) {
		stack, _, err := b.stack(ctx, v, start)
		return stack, err
	})
}

// Noted is a stack with a note, as [Branches.Note] returns, about its branches.
type Noted struct {
	Stack []branch.Entry
	Note  string
}

// NotedStack returns Stack with a note.
func (b *Branches) NotedStack(ctx context.Context, start string) (Noted, error) {
	return session.Read(ctx, b.session, func(ctx context.Context, v *session.View) (Noted, error) {
		stack, notes, err := b.stack(ctx, v, start)
		if err != nil {
			return Noted{}, err
		}
		return Noted{stack, b.note(ctx, v, notes)}, nil
	})
}

// stack returns Stack, and the notes of the state.
func (b *Branches) stack(ctx context.Context, v *session.View, start string) (_ []branch.Entry, notes []string, err error) {
	if start == "" {
		if start, err = v.Branch(ctx); err != nil {
			return nil, nil, err
		}
		if start == "" {
			going, err := v.Operation(ctx)
			if err != nil {
				return nil, nil, err
			}
			return nil, nil, detached(going, "Not on any branch (detached HEAD)", "Pass a branch.")
		}
	}
	state, err := b.stateAround(ctx, v, start)
	if err != nil {
		return nil, nil, err
	}
	stack, err := branch.Stack(state.State, func(name string) (bool, error) { return v.HasBranch(ctx, name) }, start)
	if _, unknown := errors.AsType[*branch.NotFoundError](err); unknown {
		refs, err := v.Refs(ctx)
		if err != nil {
			return nil, nil, err
		}
		return nil, nil, explain(branch.NotFound(state.State, refs, start))
	}
	return stack, state.notes, session.Explain(err)
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
		do = failure.Text("The nearest names are: " + foreign.Mention(unknown.Nearest...) + ".")
	}
	return &failure.Error{Kind: failure.NotFound, What: failure.Text(fmt.Sprintf("Branch %s not found", foreign.Branch(unknown.Branch))), Do: do}
}
