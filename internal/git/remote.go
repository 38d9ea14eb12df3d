package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/gitconfig"
)

// RemoteURL returns the URL that git fetches from for a remote, as
// "git ls-remote --get-url" prints it: the first one configured, rewritten by
// url.<base>.insteadOf. It may hold a password. A remote without a URL is
// [ErrNoRemote].
func (r *Repo) RemoteURL(ctx context.Context, name string) (string, error) {
	return read(r, func() (string, error) {
		cfg, err := r.config(ctx)
		if err != nil {
			return "", fmt.Errorf("read URL of remote %q: %w", name, err)
		}
		url, ok := remoteURL(cfg, name)
		if !ok {
			return "", fmt.Errorf("read URL of remote %q: %w", name, ErrNoRemote)
		}
		return url, nil
	})
}

func remoteURL(cfg gitconfig.Config, name string) (string, bool) {
	url, found := "", false
	for remote, value := range cfg.Subsections("remote", "url") {
		switch {
		case remote != name:
		case value == "":
			url, found = "", false // an empty one takes back those before
		case !found:
			url, found = value, true
		}
	}
	if !found {
		return "", false
	}
	base, longest := "", -1
	for b, prefix := range cfg.Subsections("url", "insteadof") {
		if strings.HasPrefix(url, prefix) && len(prefix) > longest {
			base, longest = b, len(prefix)
		}
	}
	return base + url[max(longest, 0):], true
}

// keptConfig is the configuration as long as no file of it changes.
type keptConfig struct {
	files *cachedfile.Group
	cfg   gitconfig.Config
}

// config reads the configuration that is in force here.
func (r *Repo) config(ctx context.Context) (gitconfig.Config, error) {
	if kept := r.kept.Load(); kept != nil && kept.files.Same() {
		return kept.cfg, nil
	}
	files := &cachedfile.Group{}
	cfg, err := gitconfig.Load(r.sources(ctx, files))
	if err == nil {
		r.kept.Store(&keptConfig{files: files, cfg: cfg})
	}
	if !errors.Is(err, gitconfig.ErrNeedsGit) {
		return cfg, err
	}
	list, err := r.program.Run(ctx, "config", "--list", "-z")
	if err != nil {
		return nil, fmt.Errorf("read git configuration: %w", err)
	}
	return gitconfig.ParseList(list), nil
}

// sources says where configuration comes from, and adds to files what is read of it.
func (r *Repo) sources(ctx context.Context, files *cachedfile.Group) gitconfig.Sources {
	return gitconfig.Sources{
		Lookup:      r.env.Lookup,
		Home:        homeDir(r.env),
		System:      r.systemConfig(),
		CommonDir:   r.commonDir,
		GitDir:      r.gitDir,
		GitDirAlias: r.gitDirAlias,
		Worktree:    r.format.worktreeConfig,
		Branch: func() string {
			files.Doubt()                 // it depends on what is checked out
			head, _ := r.refs().head(ctx) // without one no condition holds
			return head.Branch
		},
		Reading: func(path string) {
			_, _ = files.Add(path) // reading it tells what is wrong
		},
	}
}
