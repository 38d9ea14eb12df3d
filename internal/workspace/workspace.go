// Package workspace is the git worktree that a server answers for: the
// repository, and the state that belongs to it.
//
// Make a [Workspace] with [New]. It is found once, from a folder upwards, when
// it is first needed; while there is none, or none any more, each call looks
// again, but never settles for another repository further up. Everything
// in it is read afresh on each call, at the cost of a few stats while nothing
// has changed. It may be used by many goroutines.
package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	if w.repo != nil && !isGone(w.repo) {
		return w.repo, w.state, nil
	}
	repo, err := git.Discover(ctx, w.start, w.opts)
	if err == nil && w.repo != nil && place(repo) != place(w.repo) {
		err = git.ErrNotRepository
	}
	if err != nil {
		return nil, nil, fmt.Errorf("find repository: %w", err)
	}
	w.repo, w.state = repo, nil
	if root := repo.Root(); root != "" {
		w.state = twig.NewStore(root, repo.MainRoot())
	}
	return w.repo, w.state, nil
}

// isGone reports whether the repository was deleted or moved. A worktree that
// was removed and made again has another folder of git's.
func isGone(repo *git.Repo) bool {
	for _, path := range []string{filepath.Join(repo.GitDir(), "HEAD"), place(repo)} {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			return true
		}
	}
	return false
}

// place is the folder that a repository is known by.
func place(repo *git.Repo) string { return cmp.Or(repo.Root(), repo.GitDir()) }
