package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/git/reftable"
)

// Head describes HEAD.
type Head = refstore.Head

// Head returns the HEAD of this worktree. If the branch is known but its commit cannot be read (the
// file of the ref is damaged), Branch is set in addition to the error, which then wraps
// [refstore.ErrBroken].
func (r *Repo) Head(ctx context.Context) (Head, error) {
	return read(r, func() (Head, error) { return r.Refs().Head(ctx) })
}

// LocalBranches returns the names of all local branches, sorted by their bytes. It includes
// branches that are symbolic refs, and omits broken refs.
func (r *Repo) LocalBranches(ctx context.Context) ([]string, error) {
	return read(r, func() ([]string, error) { return r.Refs().LocalBranches(ctx) })
}

// HasBranch reports whether a local branch of this name exists.
func (r *Repo) HasBranch(ctx context.Context, name string) (bool, error) {
	return read(r, func() (bool, error) { return r.Refs().HasBranch(ctx, name) })
}

// DefaultBranch returns the branch on which others start: the one that origin's HEAD names, the one
// that init.defaultBranch names, main, or master, whichever first exists as a local branch; "" if
// none does.
func (r *Repo) DefaultBranch(ctx context.Context) (string, error) {
	return read(r, func() (string, error) { return r.Refs().DefaultBranch(ctx) })
}

// Refs reads the refs of a repository. Its methods return the same as those of [Repo], but do not
// verify first that the repository still exists. They expect git to keep the refs in the same
// format, so a Refs is for one call.
type Refs struct {
	repo   *Repo
	reader refReader
}

// Refs returns the reader of the refs. Git can convert a repository to another format at any time.
func (r *Repo) Refs() Refs {
	if reftable.Used(r.at.CommonDir) {
		return Refs{r, r.tables}
	}
	return Refs{r, fileReader{r.files}}
}

// Head returns the HEAD of the worktree, as [Repo.Head] does.
func (f Refs) Head(ctx context.Context) (Head, error) {
	return unlessGone(f.repo, func() (Head, error) { return f.reader.Head(ctx) })
}

// LocalBranches returns the names of all local branches, as [Repo.LocalBranches] does.
func (f Refs) LocalBranches(ctx context.Context) ([]string, error) {
	return unlessGone(f.repo, func() ([]string, error) { return f.reader.Branches(ctx) })
}

// HasBranch reports whether a local branch of this name exists.
func (f Refs) HasBranch(ctx context.Context, name string) (bool, error) {
	return unlessGone(f.repo, func() (bool, error) { return f.reader.HasBranch(ctx, name) })
}

// DefaultBranch returns the branch on which others start, as [Repo.DefaultBranch] does.
func (f Refs) DefaultBranch(ctx context.Context) (string, error) {
	return unlessGone(f.repo, func() (string, error) { return f.standard(ctx) })
}

func (f Refs) standard(ctx context.Context) (string, error) {
	const remote = "refs/remotes/origin/"
	head, err := f.reader.Target(ctx, remote+"HEAD")
	if err != nil {
		return "", fmt.Errorf("find default branch: %w", err)
	}
	var names []string
	if name, ok := strings.CutPrefix(head, remote); ok {
		names = append(names, name)
	}
	cfg, err := f.repo.config(ctx)
	if err != nil {
		return "", fmt.Errorf("find default branch: %w", err)
	}
	if name, _ := cfg.Value("init.defaultbranch"); name != "" {
		names = append(names, name)
	}
	for _, name := range append(names, "main", "master") {
		exists, err := f.reader.HasBranch(ctx, name)
		if err != nil {
			return "", fmt.Errorf("find default branch: %w", err)
		}
		if exists {
			return name, nil
		}
	}
	return "", nil
}

// NoRefs reports that git certainly has no ref with the given full name, or that begins with it if it
// ends with a slash. It starts no program.
func (r *Repo) NoRefs(name string) bool { return !reftable.Used(r.at.CommonDir) && r.files.None(name) }

// InTables reports whether git keeps the refs in tables instead of files.
func (f Refs) InTables() bool {
	_, ok := f.reader.(*reftable.Reader)
	return ok
}

// refReader reads refs in one of git's formats.
type refReader interface {
	Head(ctx context.Context) (Head, error)
	Branches(ctx context.Context) ([]string, error)
	HasBranch(ctx context.Context, name string) (bool, error)
	// Target returns the full name in a symbolic ref, "" if name is none.
	Target(ctx context.Context, name string) (string, error)
}

// fileReader reads refs from files.
type fileReader struct{ *refstore.Store }

func (f fileReader) Head(context.Context) (Head, error) { return f.Store.Head() }

func (f fileReader) HasBranch(_ context.Context, name string) (bool, error) {
	return f.Store.HasBranch(name)
}

func (f fileReader) Target(_ context.Context, name string) (string, error) {
	return f.Store.Target(name)
}
