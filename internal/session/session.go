// Package session is the repository that a program answers for, opened once.
//
// Make a [Session] with [New]. Its repository is found from a directory upward, when
// it is first needed. While there is none, or it is gone, each call looks again, but
// never settles for another repository further up.
//
// A call reads through a [View]: HEAD, the refs and the branch state, each at most
// once and when first needed. [Read] makes sure that what one call reads belongs
// together: if any of it changes meanwhile, the call reads again. Errors are
// [failure.Error]s, worded by the surface that shows them.
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
)

// Options say which repository a session is about.
type Options struct {
	// Dir is the directory to look for the repository in, absolute.
	Dir string
	Git git.Options
	// GitHubHost is the host that $GH_HOST names, "" for none.
	GitHubHost string
}

// Session is one worktree, found or not.
type Session struct {
	opts Options

	mu    sync.Mutex
	repo  *git.Repo
	state *twig.Store
}

// New returns the session of the repository that o.Dir is in. Nothing is read yet.
func New(o Options) *Session { return &Session{opts: o} }

// Dir returns the directory that the repository is looked for in.
func (s *Session) Dir() string { return s.opts.Dir }

// GitHubHost returns the host that $GH_HOST names, "" for none.
func (s *Session) GitHubHost() string { return s.opts.GitHubHost }

// Repo returns the repository, for what a [View] does not read.
func (s *Session) Repo(ctx context.Context) (*git.Repo, error) {
	return s.View().Repo(ctx)
}

// Worktree is a directory, and the git worktree that it is in. Paths are absolute.
type Worktree struct {
	// Dir is the directory that the repository is looked for in.
	Dir string
	// Root is the root of the worktree; "" outside of git and in a bare repository.
	Root string
	// Main is the root of the main worktree, if Root is that of a linked one.
	Main string
	// Common is git's directory, which all worktrees share; "" outside of git.
	Common string
}

// Workspace returns the root of the worktree, the directory itself outside of git.
func (w Worktree) Workspace() string { return cmp.Or(w.Root, w.Dir) }

// Worktree returns the worktree of the session. A repository that cannot be used counts
// as none.
func (s *Session) Worktree(ctx context.Context) Worktree {
	w := Worktree{Dir: s.opts.Dir}
	if repo, err := s.Repo(ctx); err == nil {
		w.Root, w.Common = repo.Root(), repo.CommonDir()
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

// open finds the repository, or makes sure that it is still there.
func (s *Session) open(ctx context.Context) (opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.repo != nil {
		if head, ok := alive(s.repo); ok {
			return opened{s.repo, s.state, head}, nil
		}
	}
	repo, err := git.Discover(ctx, s.opts.Dir, s.opts.Git)
	if err == nil && s.repo != nil && place(repo) != place(s.repo) {
		err = git.ErrNotRepository
	}
	if err != nil {
		return opened{}, fmt.Errorf("find repository: %w", err)
	}
	s.repo, s.state = repo, twig.NewStore(repo.Root(), repo.SharedRoot())
	head, _ := alive(repo)
	return opened{s.repo, s.state, head}, nil
}

// alive reports whether the repository is where it was. A worktree that was removed
// and made again has another git directory.
func alive(repo *git.Repo) (head fs.FileInfo, ok bool) {
	head, err := os.Lstat(filepath.Join(repo.GitDir(), "HEAD"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false
	}
	_, err = os.Lstat(place(repo))
	return head, !errors.Is(err, fs.ErrNotExist)
}

// place returns the directory that a repository is known by.
func place(repo *git.Repo) string { return cmp.Or(repo.Root(), repo.GitDir()) }
