package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/git/refstore"
)

// open makes a Repo of what was found from start.
func open(found finding, start string, opts Options) (*Repo, error) {
	common, err := commonDir(found.gitDir)
	if err == nil {
		common, err = filepath.EvalSymlinks(common)
	}
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
		env:   opts.Env,
		files: refstore.New(found.gitDir, common, format.hashLen),
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
	if r.mainRoot = r.root; r.gitDir != r.commonDir {
		r.mainRoot = r.findMainRoot(shared)
	}
	r.program = program.New(r.findCommandDir(found.dotGit), opts.Env)
	r.gitDirAlias = aliasOf(found, start)
	return r, nil
}

// readConfig reads one file of the repository, which need not exist.
func readConfig(path string) (gitconfig.Config, error) {
	text, err := os.ReadFile(path)
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

// settings are what configuration says about a worktree.
type settings struct {
	bare bool
	path string // core.worktree, absolute; empty if not set
}

func readSettings(cfg gitconfig.Config, gitDir string) (settings, error) {
	var w settings
	var err error
	if w.bare, err = cfg.Bool("core.bare", false); err != nil {
		return w, badConfig(filepath.Join(gitDir, "config"), err)
	}
	if w.path, _ = cfg.Value("core.worktree"); w.path == "" {
		return w, nil
	}
	if w.path = filepath.FromSlash(w.path); !filepath.IsAbs(w.path) {
		w.path = filepath.Join(gitDir, w.path)
	}
	real, err := filepath.EvalSymlinks(w.path)
	if err != nil {
		return w, &BrokenError{
			Path: filepath.Join(gitDir, "config"), Problem: "names a folder as core.worktree that is not there", Err: err,
			Remedy: "correct it or remove it",
		}
	}
	w.path = real
	return w, nil
}

// findRoot returns the root of this worktree, "" if the repository is bare.
// dotGit is the folder whose .git led here, "" if the search began inside.
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

// linkedRoot returns the root of the linked worktree whose folder in the main
// repository is gitDir.
func linkedRoot(gitDir string) (string, error) {
	path := filepath.Join(gitDir, "gitdir")
	text, err := os.ReadFile(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	dotGit := filepath.FromSlash(strings.TrimRight(string(text), "\r\n"))
	if !filepath.IsAbs(dotGit) {
		dotGit = filepath.Join(gitDir, dotGit)
	}
	root, err := filepath.EvalSymlinks(filepath.Dir(dotGit))
	if err != nil {
		return "", &BrokenError{
			Path: path, Problem: "names a linked worktree that is not there", Err: err,
			Remedy: "if it was moved, run `git worktree repair` in it; if it was deleted, run `git worktree prune`",
		}
	}
	return root, nil
}

// findMainRoot returns the root of the main worktree as seen from a linked
// one, "" if there is none that can be told.
func (r *Repo) findMainRoot(shared gitconfig.Config) string {
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

// findCommandDir returns the folder from which the git program finds this very
// repository by itself. Naming it with --git-dir would turn off git's check of
// who owns it.
func (r *Repo) findCommandDir(dotGit string) string {
	if dotGit != "" {
		return dotGit
	}
	if r.root != "" {
		if found, err := probe(r.root); err == nil && found.gitDir == r.gitDir {
			return r.root
		}
	}
	return r.gitDir
}

// aliasOf returns the folder of the repository under the name by which start
// reached it, if that is another than the resolved one.
func aliasOf(found finding, start string) string {
	dir, below := found.gitDir, ""
	if found.dotGit != "" {
		if dir, below = found.dotGit, ".git"; found.gitDir != filepath.Join(dir, below) {
			return "" // git itself has but the one name for it
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
