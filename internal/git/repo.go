package git

import (
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/checkout"
	"github.com/copse-dev/copse/internal/git/discovery"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/git/reftable"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// Repo is a git repository as seen from one of its worktrees. [Discover] creates it. All paths are
// absolute, with symbolic links resolved.
type Repo struct {
	at         *discovery.Location
	env        xec.Env // as given
	program    program.Git
	guard      *guard
	configured func(gitconfig.Config) // nil for nobody

	files     *refstore.Store
	tables    *reftable.Reader
	checkouts *checkout.Reader
	operation *operation.Reader
	index     *cachedfile.File[index.Paths]
	kept      atomic.Pointer[keptConfig]
}

// Root returns the root of the worktree; "" if the repository is bare. A submodule has its own
// root.
func (r *Repo) Root() string { return r.at.Root }

// Bare reports whether there is no worktree.
func (r *Repo) Bare() bool { return r.at.Root == "" }

// MainRoot returns the root of the main worktree, which is Root unless this is a linked worktree;
// "" if the main repository is bare, or does not name its worktree.
func (r *Repo) MainRoot() string { return r.at.MainRoot }

// Environ returns an environment for the programs that copse starts for the repository: without the
// entries of PATH that lead into it.
func (r *Repo) Environ(env xec.Env) xec.Env { return r.at.Environ(env) }

// Owned reports whether git's directory belongs to this worktree: it is the .git there, lies below
// it, or names it. Otherwise only the .git of the worktree, which can be a stranger's, leads to the
// repository. Such a worktree does not share files with the others of the repository, and the
// methods of Repo do not list those.
func (r *Repo) Owned() bool { return r.at.Owned }

// GitDir returns git's directory for this worktree, with its HEAD and index.
func (r *Repo) GitDir() string { return r.at.GitDir }

// CommonDir returns git's directory for all worktrees, with branches and configuration; in the main
// worktree it is GitDir.
func (r *Repo) CommonDir() string { return r.at.CommonDir }

// SharedRoot returns the directory for files that all worktrees share. It is the root of the main
// worktree; in a repository without one, or whose git directory is separate from it (".bare", "git
// init --separate-git-dir"), it is the directory that contains git's own.
//
// It is "" if that directory belongs to others as well: if it is a worktree of another repository,
// or contains the git directory of another one.
func (r *Repo) SharedRoot() string { return r.at.SharedRoot }

// Program returns the git program for this repository, for questions that Repo does not answer.
func (r *Repo) Program() program.Git { return r.program }

// Guard returns the guard of this repository, for callers that run git in a way other than Program
// does.
func (r *Repo) Guard() program.Guard { return r.guard }

// Operation returns the git command that stopped halfway in this worktree, nil for none.
func (r *Repo) Operation() *operation.Operation { return r.operation.Read() }

// Watch is a directory to watch.
type Watch struct {
	Path string
	// Recursive includes directories below Path, also those that are created later.
	Recursive bool
	// Names are the relevant files in Path; all if empty. Git replaces files by renaming, so watch
	// the directory and not the file.
	Names []string
}

// Watches returns the directories whose changes can affect Head, LocalBranches, and HasBranch. It
// omits directories that do not exist yet.
func (r *Repo) Watches() []Watch {
	candidates := []Watch{
		{Path: r.at.GitDir, Names: []string{"HEAD"}},
		{Path: r.at.CommonDir, Names: []string{"packed-refs"}},
		{Path: filepath.Join(r.at.CommonDir, "refs", "heads"), Recursive: true},
	}
	if reftable.Used(r.at.CommonDir) {
		candidates = []Watch{{Path: reftable.Dir(r.at.CommonDir), Names: []string{reftable.List}}}
		if r.at.GitDir != r.at.CommonDir {
			candidates = append(candidates, Watch{Path: reftable.Dir(r.at.GitDir), Names: []string{reftable.List}})
		}
	} else if r.at.GitDir == r.at.CommonDir {
		candidates[0].Names = []string{"HEAD", "packed-refs"}
		candidates = append(candidates[:1], candidates[2])
	}
	var watches []Watch
	for _, w := range candidates {
		if _, err := os.Stat(w.Path); err == nil {
			watches = append(watches, w)
		}
	}
	return watches
}

// read calls answer if the repository still exists. If it has disappeared before or afterward, that
// is the error.
func read[T any](r *Repo, answer func() (T, error)) (T, error) {
	var zero T
	if err := r.gone(); err != nil {
		return zero, err
	}
	return unlessGone(r, answer)
}

// unlessGone calls answer. If that fails because the repository has disappeared, that is the error.
func unlessGone[T any](r *Repo, answer func() (T, error)) (T, error) {
	v, err := answer()
	if err != nil {
		if gone := r.gone(); gone != nil {
			var zero T
			return zero, gone
		}
	}
	return v, err
}

func (r *Repo) gone() error {
	for _, path := range []string{filepath.Join(r.at.GitDir, "HEAD"), r.at.Root} {
		if _, err := os.Lstat(path); path != "" && regular.Absent(err) {
			if info, err := os.Lstat(r.at.GitDir); err == nil && !info.IsDir() {
				if err := r.at.Unchanged(); err != nil {
					return err // git has moved its directory, and a file leads there
				}
			}
			return fmt.Errorf("read git repository: %w: %q no longer exists", ErrNotRepository, path)
		}
	}
	return nil
}

// RefTables reports whether git keeps the refs in tables instead of files.
func (r *Repo) RefTables() bool { return reftable.Used(r.at.CommonDir) }
