package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/xec"
)

// Repo is a git repository as seen from one of its worktrees. [Discover] creates it. All paths are
// absolute, with symbolic links resolved.
type Repo struct {
	root, mainRoot    string
	sharedRoot        string
	named             bool // core.worktree sets root
	gitDir, commonDir string
	gitDirAlias       string // gitDir as reached, if over symbolic links
	format            format

	env          xec.Env // as given
	program      program.Git
	guard        *guard
	systemConfig func() string
	configured   func(gitconfig.Config) // nil for nobody

	files     *refstore.Store
	table     tableRefs
	operation *operation.Reader
	index     *cachedfile.File[index.Paths]
	kept      atomic.Pointer[keptConfig]
}

// Root returns the root of the worktree; "" if the repository is bare. A submodule has its own
// root.
func (r *Repo) Root() string { return r.root }

// Bare reports whether there is no worktree.
func (r *Repo) Bare() bool { return r.root == "" }

// MainRoot returns the root of the main worktree, which is Root unless this is a linked worktree;
// "" if the main repository is bare, or does not name its worktree.
func (r *Repo) MainRoot() string { return r.mainRoot }

// GitDir returns git's directory for this worktree, with its HEAD and index.
func (r *Repo) GitDir() string { return r.gitDir }

// CommonDir returns git's directory for all worktrees, with branches and configuration; in the main
// worktree it is GitDir.
func (r *Repo) CommonDir() string { return r.commonDir }

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
		{Path: r.gitDir, Names: []string{"HEAD"}},
		{Path: r.commonDir, Names: []string{"packed-refs"}},
		{Path: filepath.Join(r.commonDir, "refs", "heads"), Recursive: true},
	}
	if r.usesTable() {
		candidates = []Watch{{Path: r.tableDir(r.commonDir), Names: []string{tableList}}}
		if r.gitDir != r.commonDir {
			candidates = append(candidates, Watch{Path: r.tableDir(r.gitDir), Names: []string{tableList}})
		}
	} else if r.gitDir == r.commonDir {
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
	for _, path := range []string{filepath.Join(r.gitDir, "HEAD"), r.root} {
		if _, err := os.Lstat(path); path != "" && errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read git repository: %w: %q no longer exists", ErrNotRepository, path)
		}
	}
	return nil
}

// RefTables reports whether git keeps the refs in tables instead of files.
func (r *Repo) RefTables() bool { return r.usesTable() }
