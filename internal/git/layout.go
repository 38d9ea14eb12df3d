package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/regular"
)

// open returns a Repo from the search result for start.
func open(ctx context.Context, found finding, start string, opts Options) (*Repo, error) {
	common, err := commonDir(found.gitDir)
	if err != nil {
		return nil, unreadable(filepath.Join(found.gitDir, "commondir"), err)
	}
	shared, err := readConfig(filepath.Join(common, "config"))
	if err != nil {
		return nil, err
	}
	format, err := readFormat(shared, filepath.Join(common, "config"))
	if err != nil {
		return nil, err
	}
	r := &Repo{
		gitDir: found.gitDir, commonDir: common, format: format,
		env: opts.Env, configured: opts.Configured,
		files:     refstore.New(found.gitDir, common, format.hashLen),
		operation: operation.NewReader(found.gitDir),
		index: cachedfile.New(filepath.Join(found.gitDir, "index"), maxIndex, func(data []byte) (index.Paths, error) {
			return index.Parse(data, format.hashLen/2)
		}),
	}
	r.systemConfig = sync.OnceValue(func() string {
		path, _ := opts.Env.LookPath("git")
		return gitconfig.SystemFile(path)
	})
	if r.root, err = r.findRoot(found.dotGit, shared); err != nil {
		return nil, err
	}
	if err := r.checkAccount(ctx, found.dotGit); err != nil {
		return nil, err
	}
	if err := r.checkOwner(found.dotGit); err != nil {
		return nil, err
	}
	if r.mainRoot = r.root; r.gitDir != r.commonDir {
		r.mainRoot = r.findMainRoot(shared)
	}
	r.sharedRoot = r.findSharedRoot(found.dotGit)
	dir := r.findCommandDir(found.dotGit)
	r.guard = &guard{repo: r}
	r.program = program.New(program.Repository{Dir: dir, Root: r.root, Bare: dir == r.gitDir}, opts.Env, r.guard)
	r.gitDirAlias = aliasOf(found, start)
	return r, nil
}

// readConfig reads one file of the repository, which may not exist.
func readConfig(path string) (gitconfig.Config, error) {
	text, err := gitconfig.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(path, err)
	}
	cfg, err := gitconfig.Parse(text)
	if err != nil {
		return nil, badConfig(path, err)
	}
	return cfg, nil
}

func badConfig(path string, err error) error {
	return &BrokenError{Path: path, Problem: "cannot be understood", Err: err, Remedy: "correct it"}
}

// settings are the configuration of a worktree.
type settings struct {
	bare bool
	path string // core.worktree, absolute; empty if not set
}

func readSettings(cfg gitconfig.Config, gitDir string) (settings, error) {
	var w settings
	var err error
	config := filepath.Join(gitDir, "config")
	if w.bare, err = cfg.Bool("core.bare", false); err != nil {
		return w, badConfig(config, err)
	}
	if w.path, _ = cfg.Value("core.worktree"); w.path == "" {
		return w, nil
	}
	named := seenFrom(gitDir, w.path)
	if w.path, err = filepath.EvalSymlinks(named); err != nil {
		return w, &BrokenError{
			Path: config, Problem: "names a directory as core.worktree that does not exist", Err: err,
			Remedy: "correct it or remove it",
		}
	}
	if !leadsTo(w.path, gitDir) {
		return w, &BrokenError{
			Path: config, Problem: fmt.Sprintf("names %q as core.worktree, and no .git there leads back to this repository", w.path),
			Remedy: "remove core.worktree, or, if that is the worktree, " + fmt.Sprintf("put a file named .git there that says %q", "gitdir: "+gitDir),
		}
	}
	return w, nil
}

// findRoot returns the root of this worktree, "" if the repository is bare. dotGit is the directory
// whose .git led here, "" if the search began inside.
func (r *Repo) findRoot(dotGit string, shared gitconfig.Config) (string, error) {
	linked := r.gitDir != r.commonDir
	var cfg gitconfig.Config
	if !linked || r.format.worktreeConfig {
		cfg = shared
	}
	if r.format.worktreeConfig {
		own, err := readConfig(filepath.Join(r.gitDir, "config.worktree"))
		if err != nil {
			return "", err
		}
		cfg = slices.Concat(cfg, own)
	}
	w, err := readSettings(cfg, r.gitDir)
	switch {
	case err != nil:
		return "", err
	case w.path != "":
		r.named = true
		return w.path, nil
	case dotGit != "" && (linked || !w.bare):
		return dotGit, nil
	case linked:
		return linkedRoot(r.gitDir)
	case !w.bare && filepath.Base(r.gitDir) == ".git":
		return filepath.Dir(r.gitDir), nil
	default:
		return "", nil
	}
}

// checkOwner refuses a directory whose .git, a file or a link, leads to the repository of
// another directory: anyone can write such a file into an archive. dotGit is that directory,
// "" if the search began inside the repository.
//
// The owner of a repository is the directory that it says it is the worktree of, as long as
// the .git there agrees, or the directory that has it as .git. One that lies apart and says
// nothing, as "git init --separate-git-dir" makes it, has no owner that can be told.
func (r *Repo) checkOwner(dotGit string) error {
	if r.gitDir != r.commonDir && filepath.Dir(r.gitDir) != filepath.Join(r.commonDir, "worktrees") {
		return &BrokenError{
			Path: filepath.Join(r.gitDir, "commondir"), Problem: fmt.Sprintf("names %q as the main repository, which has no such linked worktree", r.commonDir),
			Remedy: "remove it, or clone the repository again",
		}
	}
	if dotGit == "" || r.gitDir == filepath.Join(dotGit, ".git") {
		return nil
	}
	owner := ""
	switch {
	case r.named:
		owner = r.root
	case r.gitDir != r.commonDir:
		owner, _ = linkedRoot(r.gitDir) // a worktree that was moved has none
	case filepath.Base(r.gitDir) == ".git":
		owner = filepath.Dir(r.gitDir)
	}
	if owner == "" || sameFile(owner, dotGit) {
		return nil
	}
	return &BrokenError{
		Path: filepath.Join(dotGit, ".git"), Problem: fmt.Sprintf("leads to the repository of %q", owner),
		Remedy: "to have a second worktree of that repository, run `git worktree add` there; otherwise remove the .git here",
	}
}

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// linkedRoot returns the root of the linked worktree whose directory in the main
// repository is gitDir.
func linkedRoot(gitDir string) (string, error) {
	path := filepath.Join(gitDir, "gitdir")
	text, err := regular.Read(path, maxSmall)
	if err != nil {
		return "", unreadable(path, err)
	}
	const remedy = "if it was moved, run `git worktree repair` in it; if it was deleted, run `git worktree prune`"
	dotGit := seenFrom(gitDir, strings.TrimRight(string(text), "\r\n"))
	root, err := filepath.EvalSymlinks(filepath.Dir(dotGit))
	if err != nil {
		return "", &BrokenError{Path: path, Problem: "names a linked worktree that does not exist", Err: err, Remedy: remedy}
	}
	if !leadsTo(root, gitDir) {
		return "", &BrokenError{
			Path: path, Problem: fmt.Sprintf("names %q as a linked worktree, and no .git there leads back", root), Remedy: remedy,
		}
	}
	return root, nil
}

// findMainRoot returns the root of the main worktree as seen from a linked one, "" if it cannot be
// determined. The main repository must know the linked worktree: a stranger's worktree can name any
// repository as its main one.
func (r *Repo) findMainRoot(shared gitconfig.Config) string {
	if !r.knowsThis() {
		return ""
	}
	if r.format.worktreeConfig {
		own, err := readConfig(filepath.Join(r.commonDir, "config.worktree"))
		if err != nil {
			return ""
		}
		shared = slices.Concat(shared, own)
	}
	w, err := readSettings(shared, r.commonDir)
	switch {
	case err != nil:
		return ""
	case w.path != "":
		return w.path
	case !w.bare && filepath.Base(r.commonDir) == ".git":
		return filepath.Dir(r.commonDir)
	default:
		return ""
	}
}

// findCommandDir returns the directory from which the git program finds this very repository by
// itself. Naming it with --git-dir would disable git's check of the owner.
func (r *Repo) findCommandDir(dotGit string) string {
	if dotGit != "" {
		return dotGit
	}
	if r.root != "" && leadsTo(r.root, r.gitDir) {
		return r.root
	}
	return r.gitDir
}

// aliasOf returns the directory of the repository under the name by which start reached it, if that
// differs from the resolved one.
func aliasOf(found finding, start string) string {
	dir, below := found.gitDir, ""
	if found.dotGit != "" {
		if dir, below = found.dotGit, ".git"; found.gitDir != filepath.Join(dir, below) {
			return "" // git itself has only one name for it
		}
	}
	for path := filepath.Clean(start); path != dir; path = filepath.Dir(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil && real == dir {
			return filepath.Join(path, below)
		}
		if path == filepath.Dir(path) {
			break
		}
	}
	return ""
}
