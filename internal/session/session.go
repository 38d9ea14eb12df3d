// Package session represents the repository of a program, opened once.
//
// Create a [Session] with [New]. Its repository is found from a directory upward, when it is first
// needed. While there is none, or it has disappeared, each call searches again, but never switches
// to another repository further up.
//
// A call reads through a [View]: HEAD, the refs, and the branch state, each at most once and when
// first needed. [Read] ensures that one call reads a consistent state: if any of it changes in the
// meantime, the call reads again. Errors are [failure.Error]s, which each surface completes with
// its own words.
//
// All of it is safe for concurrent use.
package session

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
	"github.com/copse-dev/copse/internal/regular"
)

// Options select the repository of a session.
type Options struct {
	// Dir is the directory where the search for the repository starts, absolute.
	Dir string
	Git git.Options
	// GitHubHost is the host that $GH_HOST names, "" for none.
	GitHubHost string
	// Aside returns the name of a branch that nobody develops on, such as that of work items;
	// nil and "" are none. It is not among a view's branches unless it is checked out.
	Aside func() string
}

// Session is one worktree, found or not.
type Session struct {
	opts Options

	mu    sync.Mutex
	repo  *git.Repo
	state *twig.Store
}

// New returns the session of the repository that contains o.Dir. It reads nothing yet.
func New(o Options) *Session { return &Session{opts: o} }

// Dir returns the directory where the search for the repository starts.
func (s *Session) Dir() string { return s.opts.Dir }

// GitHubHost returns the host that $GH_HOST names, "" for none.
func (s *Session) GitHubHost() string { return s.opts.GitHubHost }

// Repo returns the repository, for data that a [View] does not read.
func (s *Session) Repo(ctx context.Context) (*git.Repo, error) {
	return s.View().Repo(ctx)
}

// Worktree is a directory, and the git worktree that contains it. Paths are absolute.
type Worktree struct {
	// Dir is the directory where the search for the repository starts.
	Dir string
	// Root is the root of the worktree; "" outside git and in a bare repository.
	Root string
	// Main is the root of the main worktree, if Root is that of a linked one.
	Main string
	// Common is git's directory, which all worktrees share; "" outside git, and where that directory
	// does not know this one.
	Common string
	// Unseen is the reason why the repository cannot be read, if it cannot.
	Unseen error
}

// Workspace returns the root of the worktree, the directory itself outside git.
func (w Worktree) Workspace() string { return cmp.Or(w.Root, w.Dir) }

// Worktree returns the worktree of the session. A damaged repository counts as none.
func (s *Session) Worktree(ctx context.Context) Worktree {
	w := Worktree{Dir: s.opts.Dir}
	repo, err := s.Repo(ctx)
	if regular.Unseen(err) {
		w.Unseen = err
	}
	if err == nil {
		w.Root = repo.Root()
		if repo.Owned() {
			w.Common = repo.CommonDir()
		}
		if main := repo.MainRoot(); main != w.Root {
			w.Main = main
		}
	}
	return w
}

// View returns a view for one call.
func (s *Session) View() *View { return &View{s: s} }

// opened is the repository at one moment.
type opened struct {
	repo  *git.Repo
	state *twig.Store
	head  fs.FileInfo // of the file that a checkout replaces
}

// open finds the repository, or verifies that it still exists.
func (s *Session) open(ctx context.Context) (opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repo != nil {
		if head, ok := alive(s.repo); ok {
			return opened{s.repo, s.state, head}, nil
		}
	}
	repo, err := git.Discover(ctx, s.opts.Dir, s.opts.Git)
	if err == nil && s.repo != nil && identity(repo) != identity(s.repo) {
		err = git.ErrNotRepository
	}
	if err != nil {
		return opened{}, fmt.Errorf("find repository: %w", err)
	}
	s.repo, s.state = repo, twig.NewStore(repo.Root(), repo.SharedRoot())
	head, _ := alive(repo)
	return opened{s.repo, s.state, head}, nil
}

// alive reports whether the repository is still in its place. A worktree that was removed and
// created again has another git directory.
func alive(repo *git.Repo) (head fs.FileInfo, ok bool) {
	head, err := os.Lstat(filepath.Join(repo.GitDir(), "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	_, err = os.Lstat(identity(repo))
	return head, !errors.Is(err, fs.ErrNotExist)
}

// identity returns the directory that identifies a repository.
func identity(repo *git.Repo) string { return cmp.Or(repo.Root(), repo.GitDir()) }
