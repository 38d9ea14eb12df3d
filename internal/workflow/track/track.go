// Package track changes copse's data about branches: their parents, which of them are trunks, and
// their links. "copse branch" uses it.
//
// Use [Open]. [Tracker.Begin] starts to track a repository's branches, [Tracker.Propose] finds
// untracked data, [Tracker.Apply] saves it, and [Tracker.Change] makes any other change. It writes,
// so the read-only program must not link it.
package track

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/session"
)

// ErrNoBranch means that a branch must be named, because none is checked out.
var ErrNoBranch = errors.New("no branch is checked out; name one")

// StackedError means that a branch already has another parent.
type StackedError struct{ Branch, Parent string }

func (e *StackedError) Error() string {
	return fmt.Sprintf("%s is already stacked on %s", e.Branch, e.Parent)
}

// PullRequests lists the newest pull requests of the repository.
type PullRequests interface {
	Newest(ctx context.Context) ([]pullrequest.PullRequest, error)
}

// Tracker tracks the branches of one repository.
type Tracker struct {
	session *session.Session
	pulls   PullRequests
	now     func() time.Time
	repo    *git.Repo
}

// Open returns the tracker of a session's repository.
func Open(ctx context.Context, s *session.Session, pulls PullRequests, now func() time.Time) (*Tracker, error) {
	repo, err := s.Repo(ctx)
	return &Tracker{session: s, pulls: pulls, now: now, repo: repo}, err
}

// Repo returns the repository.
func (t *Tracker) Repo() *git.Repo { return t.repo }

// State returns the tracked data; it is empty if there is no state yet.
func (t *Tracker) State(ctx context.Context) (*twig.State, error) {
	state, err := t.session.View().State(ctx)
	if errors.Is(err, twig.ErrNoState) {
		return &twig.State{}, nil
	}
	return state, err
}

// Change changes the tracked data: the worktree's own file if it has one, or else the one that all
// worktrees share. It reports whether anything has changed.
func (t *Tracker) Change(ctx context.Context, do func(*edit.Draft) error) (bool, error) {
	root, _, err := t.session.View().StateDir(ctx)
	if err != nil {
		return false, err
	}
	if root == "" {
		return false, fmt.Errorf("%s has no place here: the bare repository %s shares its directory with others; run copse in one of its worktrees",
			twig.Name, cleantext.Line(t.repo.CommonDir()))
	}
	changed, err := edit.At(root, t.now).Change(ctx, do)
	if _, bad := errors.AsType[*twig.BadStateError](err); bad {
		err = session.Explain(err)
	}
	return changed, err
}

// Stacking defines what happens to the existing parents of a branch. Without either flag, a branch
// that has another parent is a [*StackedError].
type Stacking struct {
	// Replace removes them, and Add keeps them.
	Replace, Add bool
}

// Stack records that a branch is stacked on another. It returns the parents that the branch
// has then, the first one first, and whether anything is different now.
func (t *Tracker) Stack(ctx context.Context, child, parent string, how Stacking) (parents []string, changed bool, err error) {
	changed, err = t.Change(ctx, func(d *edit.Draft) error {
		before := d.Parents(child)
		switch same := slices.Contains(before, parent); {
		case how.Replace && (len(before) > 1 || !same):
			d.Undepend(child, "")
		case len(before) > 0 && !how.Add && !same:
			return &StackedError{Branch: child, Parent: before[0]}
		}
		err := d.Depend(child, parent)
		parents = slices.Clone(d.Parents(child))
		return err
	})
	return parents, changed, err
}

// Current returns the branch that is checked out, or that git is rebasing or bisecting;
// otherwise ErrNoBranch.
func (t *Tracker) Current(ctx context.Context) (string, error) {
	name, err := t.session.View().Branch(ctx)
	if err == nil && name == "" {
		err = ErrNoBranch
	}
	return name, err
}

// Check returns an error for a name that neither git nor the state has: it is a slip as a
// rule. What the state knows may be gone from git.
func (t *Tracker) Check(ctx context.Context, names ...string) error {
	state, err := t.State(ctx)
	if err != nil {
		return err
	}
	view := t.session.View()
	for _, name := range names {
		if state.Known(name) {
			continue
		}
		if has, err := view.HasBranch(ctx, name); err != nil {
			return err
		} else if !has {
			return t.Unknown(ctx, state, name)
		}
	}
	return nil
}

// Unknown returns the error for a branch that does not exist.
func (t *Tracker) Unknown(ctx context.Context, state *twig.State, name string) error {
	refs, err := t.session.View().Refs(ctx)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("there is no branch %q", cleantext.Line(name))
	if near := branch.NotFound(state, refs, name).Nearest; len(near) > 0 {
		text += "; did you mean " + foreign.Mention(near...) + "?"
	}
	return errors.New(text)
}

// Begin creates a state with a default root, unless it exists. Without a root, it uses the branch
// on which others start. It returns the default root, and false if there was one.
func (t *Tracker) Begin(ctx context.Context, root string) (name string, changed bool, err error) {
	state, err := t.State(ctx)
	if err != nil {
		return "", false, err
	}
	if root == "" {
		if root = defaultRoot(state); root != "" {
			return root, false, nil
		}
		if root, err = t.standard(ctx); err != nil {
			return "", false, err
		}
	} else if err := t.Check(ctx, root); err != nil {
		return "", false, err
	}
	changed, err = t.Change(ctx, func(d *edit.Draft) error { return d.AddRoot(root, true) })
	return root, changed, err
}

func defaultRoot(state *twig.State) string {
	for _, r := range state.Roots {
		if r.IsDefault {
			return r.Branch
		}
	}
	return ""
}

// standard returns the branch that others start from, else the one that is checked out.
func (t *Tracker) standard(ctx context.Context) (string, error) {
	found, err := t.session.View().Default(ctx)
	if err != nil || found != "" {
		return found, err
	}
	return t.Current(ctx)
}
