package git

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/gitconfig"
	"github.com/copse-dev/copse/internal/git/hazard"
	"github.com/copse-dev/copse/internal/git/override"
)

// guard stands between the git program and what a stranger put into the repository.
type guard struct {
	repo    *Repo
	checker hazard.Checker
	kept    atomic.Pointer[ownSettings]
}

// ownSettings is what the repository's own configuration makes necessary, as long as no
// file of it changes.
type ownSettings struct {
	files    *cachedfile.Group
	override []string
	reads    []string // the files that it names and git reads
}

// Settings takes back the programs that the repository names. It is an error if git would
// read without end.
func (g *guard) Settings(ctx context.Context) ([]string, error) {
	own, err := g.own(ctx)
	if err != nil {
		return nil, err
	}
	if err := g.checker.Check(g.layout(own.reads)); err != nil {
		return nil, unreadable(g.repo.gitDir, err)
	}
	return own.override, nil
}

// Obstacle looks everywhere.
func (g *guard) Obstacle(ctx context.Context) error {
	if err := hazard.Search(ctx, g.layout(nil)); err != nil {
		return unreadable(g.repo.gitDir, err)
	}
	return nil
}

func (g *guard) layout(files []string) hazard.Layout {
	return hazard.Layout{GitDir: g.repo.gitDir, CommonDir: g.repo.commonDir, Root: g.repo.root, Files: files}
}

// own reads the repository's own configuration if it changed.
func (g *guard) own(ctx context.Context) (*ownSettings, error) {
	if kept := g.kept.Load(); kept != nil && kept.files.Same() {
		return kept, nil
	}
	found := &ownSettings{files: &cachedfile.Group{}}
	sources := g.repo.sources(ctx, found.files)
	if g.repo.usesTable() {
		sources.Branch = func() string { return "" } // git would be asked, which asks here
	}
	cfg, err := gitconfig.Own(sources)
	if err != nil {
		return nil, badConfig(filepath.Join(g.repo.commonDir, "config"), err)
	}
	found.override, err = override.Of(cfg, func() (gitconfig.Config, error) { return gitconfig.Users(sources) })
	if err != nil {
		return nil, badConfig(filepath.Join(g.repo.commonDir, "config"), err)
	}
	for _, e := range cfg {
		if e.Key == "core.excludesfile" || e.Key == "core.attributesfile" {
			found.reads = append(found.reads, g.expand(e.Value))
		}
	}
	g.kept.Store(found)
	return found, nil
}

// expand returns the file that a path in the configuration names, as git sees it.
func (g *guard) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return homeDir(g.repo.env) + "/" + rest
	}
	return seenFrom(g.repo.root, path)
}
