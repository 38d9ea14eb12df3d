package discovery

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/git/gitlink"
	"github.com/copse-dev/copse/internal/git/ownpath"

	"github.com/copse-dev/copse/internal/git/elsewhere"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// Location says where a repository is, as seen from one of its worktrees. All paths are absolute,
// with symbolic links resolved.
type Location struct {
	// Root is the root of the worktree, "" if the repository is bare; that of a linked worktree is the
	// path that the main repository has for it. MainRoot is that of the main
	// worktree, "" if the main repository is bare, or does not name its worktree.
	Root, MainRoot string
	// SharedRoot is the directory for files that all worktrees share, "" if there is none.
	SharedRoot string
	// Named means that core.worktree sets Root.
	Named bool
	// Owned means that git's directory belongs to this worktree: it is the .git there, lies below it,
	// or names it.
	Owned bool
	// GitDir is git's directory for this worktree; CommonDir the one for all worktrees.
	GitDir, CommonDir string
	// GitDirAlias is GitDir as reached, if that was over symbolic links.
	GitDirAlias string
	// CommandDir is the directory from which the git program finds this very repository by itself.
	CommandDir string
	// Format is the format of the repository's files.
	Format Format

	env          xec.Env
	systemConfig func() string
}

// locate returns the location of the search result for start.
func locate(found finding, start string, env xec.Env) (*Location, error) {
	common, err := gitlink.CommonDir(found.gitDir)
	if err != nil {
		return nil, Unreadable(filepath.Join(found.gitDir, "commondir"), err)
	}
	shared, err := readConfig(filepath.Join(common, "config"))
	if err != nil {
		return nil, err
	}
	format, err := readFormat(shared, filepath.Join(common, "config"))
	if err != nil {
		return nil, err
	}
	l := &Location{GitDir: found.gitDir, CommonDir: common, GitDirAlias: aliasOf(found, start), Format: format, env: env}
	l.systemConfig = sync.OnceValue(func() string {
		path, _ := l.Environ(env).LookPath("git")
		return gitconfig.SystemFile(path)
	})
	if l.Root, err = l.findRoot(found.dotGit, shared); err != nil {
		return nil, err
	}
	if err := l.checkAccount(found.dotGit); err != nil {
		return nil, err
	}
	if err := l.checkOwner(found.dotGit); err != nil {
		return nil, err
	}
	if l.GitDir == l.CommonDir {
		l.Owned, l.MainRoot = l.isOwned(found.dotGit), l.Root
	} else {
		known, err := l.knownRoot()
		if err != nil {
			return nil, err
		}
		if known != "" {
			l.Owned, l.Root = true, known
			if l.MainRoot, err = l.findMainRoot(shared); err != nil {
				return nil, err
			}
		}
	}
	l.SharedRoot = l.findSharedRoot(found.dotGit)
	l.CommandDir = l.findCommandDir(found.dotGit)
	return l, nil
}

// Environ returns an environment for the programs that copse starts here: without the entries of PATH
// in this repository.
func (l *Location) Environ(env xec.Env) xec.Env {
	return ownpath.Without(env, l.Root, l.MainRoot, l.SharedRoot, l.CommandDir)
}

// Unchanged returns an error unless git, in the directory from which it is run, still finds this very
// repository: git follows .git and commondir again for each command, to another configuration.
func (l *Location) Unchanged() error {
	changed := func(path, problem string, err error) error {
		return &BrokenError{Path: path, Problem: problem, Err: err, Remedy: "if the change is yours, start copse again"}
	}
	if l.CommandDir != l.GitDir {
		if there, err := pointsTo(l.CommandDir, l.GitDir); !there {
			return cmp.Or(err, changed(filepath.Join(l.CommandDir, ".git"), "does not lead to the same repository as before", nil))
		}
	}
	if common, err := gitlink.CommonDir(l.GitDir); err != nil || common != l.CommonDir {
		return changed(filepath.Join(l.GitDir, "commondir"), "does not name the same main repository as before", err)
	}
	return nil
}

// Sources locates the configuration that applies here, as if no branch were checked out.
func (l *Location) Sources() gitconfig.Sources {
	return gitconfig.Sources{
		Lookup:      l.env.Lookup,
		Home:        HomeDir(l.env),
		System:      l.systemConfig(),
		CommonDir:   l.CommonDir,
		GitDir:      l.GitDir,
		GitDirAlias: l.GitDirAlias,
		Worktree:    l.Format.WorktreeConfig,
		Branch:      func() string { return "" },
		Reading:     func(string) {},
	}
}

// PatternFiles returns the files of patterns that a configuration names. config is the file that an error is
// about.
func (l *Location) PatternFiles(config string, cfg gitconfig.Config) (files []string, err error) {
	for _, e := range cfg {
		if e.Key != "core.excludesfile" && e.Key != "core.attributesfile" {
			continue
		}
		for _, value := range []string{e.Value, e.Older} {
			path, ok := l.expand(value)
			if !ok {
				err = &BrokenError{
					Path: config, Problem: fmt.Sprintf("sets %s to %q, a path that only git can complete", e.Key, value),
					Remedy: "write that path in full",
				}
			}
			if value != "" {
				files = append(files, path)
			}
		}
	}
	return files, err
}

// expand returns the file for a path in the configuration, as git expands it; ok is false if only git can.
func (l *Location) expand(path string) (file string, ok bool) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return HomeDir(l.env) + "/" + rest, true
	}
	if strings.HasPrefix(path, "~") || strings.HasPrefix(path, "%(") || strings.HasPrefix(path, ":(") {
		return "", false
	}
	return gitlink.From(cmp.Or(l.Root, l.CommandDir), path), true
}

// readConfig reads one file of the repository, which may not exist.
func readConfig(path string) (gitconfig.Config, error) {
	if err := elsewhere.Link(path); err != nil {
		return nil, Unreadable(path, err)
	}
	text, err := gitconfig.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Unreadable(path, err)
	}
	cfg, err := gitconfig.Parse(text)
	if err != nil {
		return nil, BadConfig(path, err)
	}
	return cfg, nil
}

// BadConfig returns the error for a file of configuration.
func BadConfig(path string, err error) error {
	if _, away := errors.AsType[*elsewhere.Error](err); away {
		return Unreadable(path, err)
	}
	return &BrokenError{Path: path, Problem: "cannot be parsed", Err: err, Remedy: "correct it"}
}

// settings are the configuration of a worktree.
type settings struct {
	bare bool
	path string // core.worktree, absolute; empty if not set
}

// readSettings reads the settings of the repository, which was reached from a directory.
func readSettings(cfg gitconfig.Config, gitDir, from string) (settings, error) {
	var w settings
	var err error
	config := filepath.Join(gitDir, "config")
	if w.bare, err = cfg.Bool("core.bare", false); err != nil {
		return w, BadConfig(config, err)
	}
	if w.path, _ = cfg.Value("core.worktree"); w.path == "" {
		return w, nil
	}
	named := gitlink.From(gitDir, w.path)
	if w.path, err = gitlink.Follow(config, gitDir, w.path, gitDir, from); IsSpecial(err) {
		return w, Unreadable(config, err)
	} else if regular.Unseen(err) {
		return w, Unreadable(named, err)
	} else if err != nil {
		return w, &BrokenError{
			Path: config, Problem: "sets core.worktree to a directory that does not exist", Err: err,
			Remedy: "correct it or remove it",
		}
	}
	if there, err := pointsTo(w.path, gitDir); err != nil {
		return w, err
	} else if !there {
		return w, &BrokenError{
			Path: config, Problem: fmt.Sprintf("sets core.worktree to %q, whose .git does not point back to this repository", w.path),
			Remedy: "remove core.worktree, or, if that is the worktree, " + fmt.Sprintf("put a file named .git there that contains %q", "gitdir: "+gitDir),
		}
	}
	return w, nil
}

// findRoot returns the root of this worktree, "" if the repository is bare. dotGit is the directory
// whose .git led here, "" if the search began inside.
func (l *Location) findRoot(dotGit string, shared gitconfig.Config) (string, error) {
	linked := l.GitDir != l.CommonDir
	var cfg gitconfig.Config
	if !linked || l.Format.WorktreeConfig {
		cfg = shared
	}
	if l.Format.WorktreeConfig {
		own, err := readConfig(filepath.Join(l.GitDir, "config.worktree"))
		if err != nil {
			return "", err
		}
		cfg = slices.Concat(cfg, own)
	}
	w, err := readSettings(cfg, l.GitDir, dotGit)
	switch {
	case err != nil:
		return "", err
	case w.path != "":
		l.Named = true
		return w.path, nil
	case dotGit != "" && (linked || !w.bare):
		return dotGit, nil
	case linked:
		return linkedRoot(l.GitDir, dotGit)
	case !w.bare && filepath.Base(l.GitDir) == ".git":
		return filepath.Dir(l.GitDir), nil
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
func (l *Location) checkOwner(dotGit string) error {
	if l.GitDir != l.CommonDir && filepath.Dir(l.GitDir) != filepath.Join(l.CommonDir, "worktrees") {
		return &BrokenError{
			Path: filepath.Join(l.GitDir, "commondir"), Problem: fmt.Sprintf("points to the main repository %q, which has no such linked worktree", l.CommonDir),
			Remedy: "remove it, or clone the repository again",
		}
	}
	if dotGit == "" || l.GitDir == filepath.Join(dotGit, ".git") {
		return nil
	}
	owner := ""
	switch {
	case l.Named:
		owner = l.Root
	case l.GitDir != l.CommonDir:
		var err error
		if owner, err = linkedRoot(l.GitDir, dotGit); regular.Unseen(err) {
			return err // a worktree that was moved has no owner
		}
	case filepath.Base(l.GitDir) == ".git":
		owner = filepath.Dir(l.GitDir)
	}
	if owner == "" || sameFile(owner, dotGit) {
		return nil
	}
	return &BrokenError{
		Path: filepath.Join(dotGit, ".git"), Problem: fmt.Sprintf("points to the repository of %q", owner),
		Remedy: "to have a second worktree of that repository, run `git worktree add` there; otherwise remove the .git here",
	}
}

// isOwned reports whether git's directory belongs to this worktree, which is not a linked one. dotGit
// is as for checkOwner, which has found no other owner.
func (l *Location) isOwned(dotGit string) bool {
	below, err := filepath.Rel(dotGit, l.GitDir)
	return dotGit == "" || l.Named || err == nil && filepath.IsLocal(below)
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
// repository is gitDir, as reached from a directory.
func linkedRoot(gitDir, from string) (string, error) {
	path := filepath.Join(gitDir, "gitdir")
	if err := elsewhere.Link(path); err != nil {
		return "", Unreadable(path, err)
	}
	text, err := regular.Read(path, gitlink.MaxFile)
	if err != nil {
		return "", Unreadable(path, err)
	}
	const remedy = "if it was moved, run `git worktree repair` in it; if it was deleted, run `git worktree prune`"
	dotGit := gitlink.From(gitDir, gitlink.Path(string(text)))
	root, err := gitlink.Follow(path, gitDir, filepath.Dir(dotGit), gitDir, from)
	if IsSpecial(err) {
		return "", Unreadable(path, err)
	}
	if regular.Unseen(err) {
		return "", Unreadable(filepath.Dir(dotGit), err)
	}
	if err != nil {
		return "", &BrokenError{Path: path, Problem: "points to a linked worktree that does not exist", Err: err, Remedy: remedy}
	}
	if there, err := pointsTo(root, gitDir); err != nil {
		return "", err
	} else if !there {
		return "", &BrokenError{
			Path: path, Problem: fmt.Sprintf("points to the linked worktree %q, whose .git does not point back", root), Remedy: remedy,
		}
	}
	return root, nil
}

// findMainRoot returns the root of the main worktree as seen from a linked one, "" if it cannot be
// determined. An error means that a file on the way cannot be seen. The main repository must know the
// linked worktree: a stranger's worktree can name any repository as its main one, so the caller has
// checked Owned.
func (l *Location) findMainRoot(shared gitconfig.Config) (string, error) {
	var own gitconfig.Config
	var w settings
	var err error
	if l.Format.WorktreeConfig {
		own, err = readConfig(filepath.Join(l.CommonDir, "config.worktree"))
	}
	if err == nil {
		w, err = readSettings(slices.Concat(shared, own), l.CommonDir, l.Root)
	}
	switch {
	case regular.Unseen(err):
		return "", err
	case err != nil:
		return "", nil //nolint:nilerr // the main worktree reports it
	case w.path != "":
		return w.path, nil
	case !w.bare && filepath.Base(l.CommonDir) == ".git":
		return filepath.Dir(l.CommonDir), nil
	default:
		return "", nil
	}
}

// findCommandDir returns the directory from which the git program finds this very repository by
// itself. Naming it with --git-dir would disable git's check of the owner.
func (l *Location) findCommandDir(dotGit string) string {
	if dotGit != "" {
		return dotGit
	}
	if l.Root != "" {
		if there, _ := pointsTo(l.Root, l.GitDir); there {
			return l.Root
		}
	}
	return l.GitDir
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

// GitDirOf returns git's directory for the worktree at dir, "" if the .git there does
// not lead to this repository. An error means that a file on the way cannot be seen.
func (l *Location) GitDirOf(dir string) (string, error) {
	found, err := probe(dir)
	var common string
	if err == nil && found.gitDir != "" {
		common, err = gitlink.CommonDir(found.gitDir)
	}
	switch {
	case regular.Unseen(err), IsSpecial(err), errors.Is(err, errBadHead):
		return "", err
	case err != nil || common != l.CommonDir:
		return "", nil //nolint:nilerr // it leads nowhere
	}
	return found.gitDir, nil
}
