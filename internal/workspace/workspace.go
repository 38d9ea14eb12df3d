// Package workspace is the git worktree that a server answers for: the
// repository, and the state that belongs to it.
//
// Make a [Workspace] with [New]. It is found once, from a folder upwards, when
// it is first needed; while there is none, each call looks again. Everything
// in it is read afresh on each call, at the cost of a few stats while nothing
// has changed. It may be used by many goroutines.
package workspace

import (
	"context"
	"fmt"
	"sync"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/git"
)

// Workspace is one worktree, found or not.
type Workspace struct {
	start string
	opts  git.Options

	mu    sync.Mutex
	repo  *git.Repo
	state *twig.Store
}

// New makes the workspace that start is in. Nothing is read yet.
func New(start string, opts git.Options) *Workspace { return &Workspace{start: start, opts: opts} }

// Start is the folder that the workspace was looked for in.
func (w *Workspace) Start() string { return w.start }

// Repo is the repository. The error is git.ErrNotRepository, or says what is
// wrong with the repository that was found.
func (w *Workspace) Repo(ctx context.Context) (*git.Repo, error) {
	repo, _, err := w.open(ctx)
	return repo, err
}

// State is the present branch state: the worktree's own, else the one of the
// main worktree. Its error is one of Repo, twig.ErrNoState, or a
// *twig.BadStateError.
func (w *Workspace) State(ctx context.Context) (*twig.State, error) {
	_, state, err := w.open(ctx)
	if err != nil {
		return nil, err
	}
	if state == nil { // a bare repository has no place for it
		return nil, twig.ErrNoState
	}
	return state.Load()
}

func (w *Workspace) open(ctx context.Context) (*git.Repo, *twig.Store, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.repo == nil {
		repo, err := git.Discover(ctx, w.start, w.opts)
		if err != nil {
			return nil, nil, fmt.Errorf("find repository: %w", err)
		}
		w.repo = repo
		if root := repo.Root(); root != "" {
			w.state = twig.NewStore(root, repo.MainRoot())
		}
	}
	return w.repo, w.state, nil
}
