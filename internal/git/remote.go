package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/git/gitconfig"
)

// RemoteURL returns the URL from which git fetches for a remote, as "git ls-remote --get-url"
// prints it: the first configured one, rewritten by url.<base>.insteadOf. It may contain a
// password. A remote without a URL is [ErrNoRemote].
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
			url, found = "", false // an empty one resets the previous ones
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

// keptConfig is the cached configuration, valid while its files do not change.
type keptConfig struct {
	files *cachedfile.Group
	cfg   gitconfig.Config
}

// config reads the configuration that applies here.
func (r *Repo) config(ctx context.Context) (gitconfig.Config, error) {
	if kept := r.kept.Load(); kept != nil && kept.files.Same() {
		return kept.cfg, nil
	}
	files := &cachedfile.Group{}
	cfg, err := gitconfig.Load(r.sources(ctx, files))
	if err == nil {
		r.kept.Store(&keptConfig{files: files, cfg: cfg})
	}
	if errors.Is(err, gitconfig.ErrNeedsGit) {
		list, err := r.program.Run(ctx, "config", "--list", "-z")
		if err != nil {
			return nil, fmt.Errorf("read git configuration: %w", err)
		}
		cfg = gitconfig.ParseList(list)
	} else if err != nil {
		return cfg, err
	}
	if r.configured != nil {
		r.configured(cfg)
	}
	return cfg, nil
}

// sources locates the configuration, and adds the files that it reads to files.
func (r *Repo) sources(ctx context.Context, files *cachedfile.Group) gitconfig.Sources {
	sources := r.at.Sources()
	sources.Branch = func() string {
		files.MarkIncomplete()        // it depends on HEAD
		head, _ := r.Refs().Head(ctx) // without one, no condition is true
		return head.Branch
	}
	sources.Reading = func(path string) {
		_, _ = files.Add(path) // reading it reports the problem
	}
	return sources
}

// Address is the configured address of a remote: insteadOf, which a repository's configuration can
// set, is not applied.
type Address struct {
	Fetch string
	Push  string // empty if it is the same
}

// Address returns the addresses of a remote. A remote without one is [ErrNoRemote].
func (r *Repo) Address(ctx context.Context, name string) (Address, error) {
	return read(r, func() (Address, error) {
		cfg, err := r.config(ctx)
		if err != nil {
			return Address{}, fmt.Errorf("read address of remote %q: %w", name, err)
		}
		first := func(key string) string {
			for remote, value := range cfg.Subsections("remote", key) {
				if remote == name && value != "" {
					return value
				}
			}
			return ""
		}
		a := Address{Fetch: first("url"), Push: first("pushurl")}
		if a.Fetch == "" {
			return Address{}, fmt.Errorf("read address of remote %q: %w", name, ErrNoRemote)
		}
		return a, nil
	})
}

// Remotes returns the names of the remotes that have an address, in the order of the
// configuration.
func (r *Repo) Remotes(ctx context.Context) ([]string, error) {
	return read(r, func() ([]string, error) {
		cfg, err := r.config(ctx)
		if err != nil {
			return nil, fmt.Errorf("read remotes: %w", err)
		}
		var names []string
		known := map[string]bool{}
		for name, value := range cfg.Subsections("remote", "url") {
			if value != "" && !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
		return names, nil
	})
}

// Author returns the name and address of new commits' author here, empty if the configuration does
// not set them.
func (r *Repo) Author(ctx context.Context) (name, email string) {
	cfg, err := r.config(ctx)
	if err != nil {
		return "", ""
	}
	name, _ = cfg.Value("user.name")
	email, _ = cfg.Value("user.email")
	return name, email
}

// ObjectFormat returns "sha256" for a repository with such object names, "" for SHA-1.
func (r *Repo) ObjectFormat() string {
	if r.at.Format.HashLen == hex.EncodedLen(sha256.Size) {
		return "sha256"
	}
	return ""
}
