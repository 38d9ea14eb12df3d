package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

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

// Options describe the environment of a Repo.
type Options struct {
	// Env is the complete environment. It locates the configuration (HOME, XDG_CONFIG_HOME,
	// GIT_CONFIG_GLOBAL, ...), the end of the search for a repository (GIT_CEILING_DIRECTORIES),
	// and the git program (PATH), and the git program receives it.
	Env xec.Env
	// Named means that the user named the directory to start from, rather than being in it. Only
	// then may that directory itself be a bare repository.
	Named bool
	// Self is the path of a program that begins with [guard.Main], for commands of git that take long; "" for none.
	Self string
	// Configured, unless nil, is called with the effective configuration each time it is
	// read from disk.
	Configured func(gitconfig.Config)
}

// Discover finds the repository of the directory start, an absolute path: the nearest one, from
// start upward, that has a .git directory or a .git file. It resolves symbolic links in start
// first.
//
// Discover skips a directory that looks like the inside .git: anyone can commit one, with a
// configuration of their choice. Discover uses such a directory only as start itself, and only if
// the user named it. core.worktree applies only if the .git of that directory points back to the
// repository.
//
// If there is no repository, the error is [ErrNotRepository], an [*UnnamedError] in particular; if
// there is an unusable one, a [*BrokenError]. One that belongs to another account of the machine is
// unusable unless safe.directory names it, as for git. Unlike git, Discover does not stop at mount
// points. Nothing that it reads names a program that it runs.
func Discover(ctx context.Context, start string, opts Options) (*Repo, error) {
	at, err := discovery.Find(ctx, start, discovery.Options{Env: opts.Env, Named: opts.Named})
	if err != nil {
		return nil, err
	}
	r := &Repo{
		at: at, env: opts.Env, configured: opts.Configured,
		files:     refstore.New(at.GitDir, at.CommonDir, at.Format.HashLen),
		operation: operation.NewReader(at.GitDir),
		index: cachedfile.New(filepath.Join(at.GitDir, "index"), maxIndex, func(data []byte) (index.Paths, error) {
			return index.Parse(data, at.Format.HashLen/2)
		}),
	}
	r.guard = &guard{repo: r}
	r.program = program.New(program.Repository{Dir: at.CommandDir, Root: at.Root, Bare: at.CommandDir == at.GitDir}, func() xec.Env { return at.Environ(opts.Env) }, r.guard).Under(opts.Self)
	r.tables = reftable.New(at.GitDir, at.CommonDir, r.program)
	r.checkouts = &checkout.Reader{At: at, Refs: r.files, Git: r.program, Guard: r.guard}
	return r, nil
}

// At returns the repository at exactly dir, an absolute path that somebody named: a directory with
// .git, or a bare repository. It does not search the directories above dir.
func At(ctx context.Context, dir string, opts Options) (*Repo, error) {
	real, err := filepath.EvalSymlinks(dir)
	if regular.Unseen(err) {
		return nil, discovery.Unreadable(dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("open git repository %q: %w", dir, ErrNotRepository)
	}
	above := filepath.Dir(real)
	if above == real || strings.Contains(above, string(filepath.ListSeparator)) {
		return nil, fmt.Errorf("open git repository %q: %w", dir, ErrNotRepository) // it has no ceiling
	}
	opts.Named = true
	opts.Env = opts.Env.With("GIT_CEILING_DIRECTORIES=" + above)
	return Discover(ctx, real, opts)
}
