package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/discovery"
	"github.com/copse-dev/copse/internal/git/index"
)

// maxIndex is the maximum size of an index that is read here: half a million files. The git
// program, which maps it into memory, reads a larger one.
const maxIndex = 64 << 20

// Tracked returns the files that git tracks. It reads them again when the index changes.
func (r *Repo) Tracked(ctx context.Context) (index.Paths, error) {
	return read(r, func() (index.Paths, error) {
		paths, err := r.index.Get()
		if errors.Is(err, fs.ErrNotExist) {
			return index.Paths{}, nil
		}
		if err == nil {
			return paths, nil
		}
		// Git decides about an unsupported or damaged index.
		list, err := r.program.Run(ctx, "ls-files", "-z", "-t", "--full-name")
		if err != nil {
			return index.Paths{}, fmt.Errorf("list tracked files: %w", err)
		}
		return index.FromList(list), nil
	})
}

// LeftOut returns the tracked files that a sparse checkout, if there is one, keeps out of the worktree.
func (r *Repo) LeftOut(ctx context.Context) (index.Paths, error) {
	cfg, err := r.config(ctx)
	if sparse, wrong := cfg.Bool("core.sparsecheckout", false); err != nil || wrong != nil || !sparse {
		return index.Paths{}, errors.Join(err, wrong)
	}
	tracked, err := r.Tracked(ctx)
	return tracked.Skipped(), err
}

// Excludes lists the files, besides those named .gitignore, with git's ignore patterns for this
// worktree, and how to compare them.
type Excludes struct {
	// Files are paths, the weakest first: the user's, the repository's. They
	// need not exist.
	Files []string
	// FoldCase means that patterns are case-insensitive.
	FoldCase bool
	// Sparse means that the configuration has a sparse checkout, so LeftOut can have files.
	Sparse bool
}

// Excludes reads the configuration of what git ignores and leaves out.
func (r *Repo) Excludes(ctx context.Context) (Excludes, error) {
	return unlessGone(r, func() (Excludes, error) {
		cfg, err := r.config(ctx)
		if err != nil {
			return Excludes{}, fmt.Errorf("read what is ignored: %w", err)
		}
		var e Excludes
		if e.Sparse, err = cfg.Bool("core.sparsecheckout", false); err != nil {
			e.Sparse = false // LeftOut reports it
		}
		if e.FoldCase, err = cfg.Bool("core.ignorecase", false); err != nil {
			return Excludes{Sparse: e.Sparse}, fmt.Errorf("read what is ignored: %w", err)
		}
		if path := r.userExcludes(cfg.Value("core.excludesfile")); path != "" {
			e.Files = append(e.Files, path)
		}
		e.Files = append(e.Files, filepath.Join(r.at.CommonDir, "info", "exclude"))
		return e, nil
	})
}

// userExcludes returns the path of the user's file, "" if there is none.
func (r *Repo) userExcludes(configured string, ok bool) string {
	home := discovery.HomeDir(r.env)
	if !ok {
		base := r.env.Get("XDG_CONFIG_HOME")
		if base == "" && home != "" {
			base = filepath.Join(home, ".config")
		}
		if base == "" {
			return ""
		}
		return filepath.Join(base, "git", "ignore")
	}
	if rest, found := strings.CutPrefix(configured, "~/"); found && home != "" {
		return filepath.Join(home, filepath.FromSlash(rest))
	}
	if configured == "" || filepath.IsAbs(configured) {
		return configured
	}
	return filepath.Join(r.at.Root, filepath.FromSlash(configured))
}
