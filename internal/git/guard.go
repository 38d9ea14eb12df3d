package git

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/git/gitlink"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/discovery"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/hazard"
	"github.com/copse-dev/copse/internal/git/override"
	"github.com/copse-dev/copse/internal/git/reftable"
)

// guard protects the git program from a stranger's files in the repository.
type guard struct {
	repo    *Repo
	checker hazard.Checker
	kept    atomic.Pointer[ownSettings]
}

// ownSettings are the settings that the repository's own configuration requires, while its files do
// not change.
type ownSettings struct {
	files    *cachedfile.Group
	override []string
	reads    []string // the files that it names and git reads
	// err is the reason why git cannot run safely. Megabytes of settings are refused once, and not
	// read for each command.
	err error
}

// Settings overrides the programs that the repository names. It fails if git would never
// stop reading.
func (g *guard) Settings(ctx context.Context) ([]string, error) {
	if err := g.repo.at.Unchanged(); err != nil {
		return nil, err
	}
	own, err := g.own(ctx)
	if err != nil {
		return nil, err
	}
	if err := g.checker.Check(g.layout(own.reads)); err != nil {
		return nil, discovery.Unreadable(g.repo.at.GitDir, err)
	}
	return own.override, g.submodules()
}

// maxSubmodules is the maximum number of submodules that are checked out: each costs dozens of system
// calls before every command of git.
const maxSubmodules = 1000

// submodules checks git's files of the submodules. Thousands of links can lead to the same directory.
func (g *guard) submodules() error {
	if g.repo.at.Root == "" {
		return nil
	}
	tracked, err := g.repo.index.Get()
	if err != nil {
		return nil //nolint:nilerr // git reports the problem of the index
	}
	checked := map[string]bool{"": true} // git treats one without a directory as not checked out
	for _, link := range tracked.Links() {
		dir, err := discovery.SubmoduleDir(filepath.Join(g.repo.at.Root, filepath.FromSlash(link)))
		if err != nil {
			return err
		}
		if checked[dir] {
			continue
		}
		if len(checked) > maxSubmodules {
			problem := fmt.Sprintf("has more than %d submodules that are checked out", maxSubmodules)
			return &BrokenError{Path: g.repo.at.Root, Problem: problem, Remedy: "run `git submodule deinit` for those that you do not need"}
		}
		checked[dir] = true
		common, err := gitlink.CommonDir(dir)
		if err == nil {
			err = g.checker.Check(hazard.Layout{GitDir: dir, CommonDir: common})
		}
		if discovery.IsSpecial(err) {
			return discovery.Unreadable(dir, err)
		}
	}
	return nil
}

// Submodules returns git's directories of the submodules that are checked out.
func (r *Repo) Submodules() []string {
	tracked, err := r.index.Get()
	if err != nil || r.at.Root == "" {
		return nil
	}
	var dirs []string
	for _, link := range tracked.Links() {
		if dir, _ := discovery.SubmoduleDir(filepath.Join(r.at.Root, filepath.FromSlash(link))); dir != "" {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// Obstacle searches everywhere.
func (g *guard) Obstacle(ctx context.Context) (slow bool, err error) {
	var reads []string
	if kept := g.kept.Load(); kept != nil {
		reads = kept.reads
	}
	if err = hazard.Search(ctx, g.layout(reads)); err == nil {
		return false, nil
	}
	_, slow = errors.AsType[*hazard.ContentError](err)
	return slow, discovery.Unreadable(g.repo.at.GitDir, err)
}

func (g *guard) layout(files []string) hazard.Layout {
	return hazard.Layout{GitDir: g.repo.at.GitDir, CommonDir: g.repo.at.CommonDir, Root: g.repo.at.Root, Files: files}
}

// own reads the repository's own configuration if it has changed.
func (g *guard) own(ctx context.Context) (*ownSettings, error) {
	if kept := g.kept.Load(); kept != nil && kept.files.Same() {
		return kept, kept.err
	}
	found := &ownSettings{files: &cachedfile.Group{}}
	sources := g.repo.sources(ctx, found.files)
	if reftable.Used(g.repo.at.CommonDir) {
		sources.Branch = func() string { return "" } // git would have to run, and git calls this function
	}
	config := filepath.Join(g.repo.at.CommonDir, "config")
	cfg, err := gitconfig.Own(sources)
	if err != nil {
		return nil, discovery.BadConfig(config, err)
	}
	if slow := hazard.Settings(config, cfg); slow != nil {
		found.err = discovery.Unreadable(config, slow)
		g.kept.Store(found)
		return nil, found.err
	}
	found.override, err = override.Of(cfg, func() (gitconfig.Config, error) { return gitconfig.Users(sources) })
	switch {
	case errors.Is(err, override.ErrTooMany), errors.Is(err, override.ErrName):
		found.err = &BrokenError{
			Path: config, Problem: "cannot be used safely: " + err.Error(),
			Remedy: "remove the settings that name programs",
		}
		g.kept.Store(found)
		return nil, found.err
	case err != nil:
		return nil, discovery.BadConfig(config, err)
	}
	found.reads, found.err = g.repo.at.PatternFiles(config, cfg)
	g.kept.Store(found)
	return found, found.err
}
