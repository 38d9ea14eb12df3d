package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// View is one call's view of the repository. Each part is read at most once, when it is first
// needed.
type View struct {
	s     *Session
	steps atomic.Int64 // counts the beginnings and ends of reads

	opened   once[opened]
	refs     once[git.Refs]
	head     once[git.Head]
	going    once[*operation.Operation]
	state    once[*twig.State]
	branches once[[]string]
	standard once[string]
}

// once is a value that is read at most once, by the first caller.
type once[T any] struct {
	mu    sync.Mutex
	read  bool
	span  span
	value T
	err   error
}

// span is the time of a read in steps of the view, zero if there was none.
type span struct{ began, ended int64 }

// last reports whether s began after all others, which may include s, had ended.
func (s span) last(all ...span) bool {
	return !slices.ContainsFunc(all, func(other span) bool { return other != s && other.ended > s.began })
}

func (o *once[T]) get(v *View, read func() (T, error)) (T, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.read {
		began := v.steps.Add(1)
		o.value, o.err = read()
		o.read, o.span = true, span{began, v.steps.Add(1)}
	}
	return o.value, o.err
}

// known returns the value, false if nothing was read.
func (o *once[T]) known() (T, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.value, o.read && o.err == nil
}

// part returns the value, and when it was read without an error.
func (o *once[T]) part() (T, span) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return o.value, span{}
	}
	return o.value, o.span
}

func (v *View) open(ctx context.Context) (opened, error) {
	o, err := v.opened.get(v, func() (opened, error) { return v.s.open(ctx) })
	return o, Explain(err)
}

// Repo returns the repository.
func (v *View) Repo(ctx context.Context) (*git.Repo, error) {
	o, err := v.open(ctx)
	return o.repo, err
}

// reader returns the reader of the refs. That the repository exists is verified once for all of them.
func (v *View) reader(ctx context.Context) (git.Refs, error) {
	o, err := v.open(ctx)
	if err != nil {
		return git.Refs{}, err
	}
	return v.refs.get(v, func() (git.Refs, error) { return o.repo.Refs(), nil })
}

// Head returns HEAD. If the file of the branch is damaged, the name of the branch is known
// nevertheless.
func (v *View) Head(ctx context.Context) (git.Head, error) {
	refs, err := v.reader(ctx)
	if err != nil {
		return git.Head{}, err
	}
	head, err := v.head.get(v, func() (git.Head, error) {
		head, err := refs.Head(ctx)
		if head.Branch != "" && errors.Is(err, refstore.ErrBroken) {
			return head, nil
		}
		return head, err
	})
	return head, Explain(err)
}

// Operation returns the git command that stopped halfway in the worktree, nil for none.
func (v *View) Operation(ctx context.Context) (*operation.Operation, error) {
	o, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	return v.going.get(v, func() (*operation.Operation, error) { return o.repo.Operation(), nil })
}

// Branch returns the current branch: the one that is checked out, or the one that is being rebased
// or bisected while HEAD is detached. It is "" if there is none.
func (v *View) Branch(ctx context.Context) (string, error) {
	head, err := v.Head(ctx)
	if err != nil || !head.Detached {
		return head.Branch, err
	}
	going, err := v.Operation(ctx)
	if err != nil || going == nil {
		return "", err
	}
	return going.Branch, nil
}

// Current returns Branch, and treats an unreadable HEAD as no branch.
func (v *View) Current(ctx context.Context) string {
	name, err := v.Branch(ctx)
	if err != nil {
		return ""
	}
	return name
}

// State returns the branch state: the worktree's own, or else that of the main worktree.
func (v *View) State(ctx context.Context) (*twig.State, error) {
	o, err := v.open(ctx)
	if err != nil {
		return nil, err
	}
	state, err := v.state.get(v, o.state.Load)
	return state, Explain(err)
}

// StateDir returns the directory whose state file is in use, or to which a new one belongs, and
// the one whose state file it hides. Both are "" if there is none.
func (v *View) StateDir(ctx context.Context) (dir, hides string, err error) {
	o, err := v.open(ctx)
	if err != nil {
		return "", "", err
	}
	dir, hides = o.state.Locate()
	return dir, hides, nil
}

// Branches returns the local branches, sorted by bytes, without the one set aside.
func (v *View) Branches(ctx context.Context) ([]string, error) {
	refs, err := v.reader(ctx)
	if err != nil {
		return nil, err
	}
	names, err := v.branches.get(v, func() ([]string, error) { return refs.LocalBranches(ctx) })
	if err != nil {
		return nil, Explain(err)
	}
	if i, ok := slices.BinarySearch(names, v.Aside(ctx)); ok {
		names = slices.Concat(names[:i], names[i+1:])
	}
	return names, nil
}

// Aside returns the name of the branch that nobody develops on, "" if there is none, or it is
// checked out.
func (v *View) Aside(ctx context.Context) string {
	if v.s.opts.Aside == nil {
		return ""
	}
	if name := v.s.opts.Aside(); name != v.Current(ctx) {
		return name
	}
	return ""
}

// HasBranch reports whether a local branch with this name exists. It uses the list of branches only
// if that is already read.
func (v *View) HasBranch(ctx context.Context, name string) (bool, error) {
	if name != "" && name == v.Current(ctx) {
		return true, nil // even before its first commit
	}
	if names, ok := v.branches.known(); ok {
		_, found := slices.BinarySearch(names, name)
		return found, nil
	}
	refs, err := v.reader(ctx)
	if err != nil {
		return false, err
	}
	has, err := refs.HasBranch(ctx, name)
	return has, Explain(err)
}

// Refs returns git's branches. If HEAD is detached, or cannot be read, there is no current branch;
// if git knows no default branch, there is none.
func (v *View) Refs(ctx context.Context) (branch.Refs, error) {
	names, err := v.Branches(ctx)
	if err != nil {
		return branch.Refs{}, err
	}
	standard, _ := v.Default(ctx) // a tree without git's default branch is better than none
	return branch.NewRefs(names, standard, v.Current(ctx)), nil
}

// Default returns the branch on which others start, "" if there is none.
func (v *View) Default(ctx context.Context) (string, error) {
	refs, err := v.reader(ctx)
	if err != nil {
		return "", err
	}
	standard, err := v.standard.get(v, func() (string, error) { return refs.DefaultBranch(ctx) })
	return standard, Explain(err)
}

// maxRepeats is how often a call reads again if the repository changes during the call. In a
// repository that changes continuously, the last answer is used.
const maxRepeats = 3

// Read calls read with a view, and calls it again with another one if the first view's data has
// changed in the meantime, so an answer never mixes two states of the repository.
func Read[T any](ctx context.Context, s *Session, read func(context.Context, *View) (T, error)) (T, error) {
	for repeats := 0; ; repeats++ {
		v := s.View()
		out, err := read(ctx, v)
		if repeats == maxRepeats || ctx.Err() != nil || !v.changed(ctx) {
			return out, err
		}
	}
}

// changed reports whether the parts may be of different moments. The part that was read after all
// others is of that moment, and so is each of the others if it is the same now as when it was read.
func (v *View) changed(ctx context.Context) bool {
	o, ok := v.opened.known()
	refs, read := v.refs.known()
	if !ok || !read { // the state at most
		return false
	}
	head, headRead := v.head.part()
	state, stateRead := v.state.part()
	names, namesRead := v.branches.part()
	parts := []struct {
		span
		differs func() bool
	}{
		{headRead, func() bool { return v.moved(ctx, o, refs, head) }},
		{stateRead, func() bool {
			// The store returns the same value while the file is the same.
			now, err := o.state.Load()
			return err != nil || now != state
		}},
		{namesRead, func() bool {
			now, err := refs.LocalBranches(ctx)
			return err != nil || !slices.Equal(now, names)
		}},
	}
	for _, p := range parts {
		if p.began > 0 && !p.last(headRead, stateRead, namesRead) && p.differs() {
			return true
		}
	}
	return false
}

// moved reports whether HEAD has changed. Git replaces the file HEAD at each checkout, unless it
// keeps refs in tables.
func (v *View) moved(ctx context.Context, o opened, refs git.Refs, was git.Head) bool {
	if !refs.InTables() {
		now, err := os.Lstat(filepath.Join(o.repo.GitDir(), "HEAD"))
		if err == nil && o.head != nil && cachedfile.SignatureOf(o.head) == cachedfile.SignatureOf(now) {
			return false
		}
	}
	now, err := refs.Head(ctx)
	return err != nil && !errors.Is(err, refstore.ErrBroken) || now.Branch != was.Branch
}
