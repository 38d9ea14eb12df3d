package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/git/refstore"
)

// Head describes HEAD.
type Head struct {
	// Branch is the short name of the branch; empty if Detached.
	Branch string
	// Commit is the hash of the commit; empty if Unborn.
	Commit string
	// Detached means that HEAD is a commit, or a ref that is not a branch.
	Detached bool
	// Unborn means that the branch has no commit yet.
	Unborn bool
}

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
	if r.usesTable() {
		return Refs{r, tableReader{r}}
	}
	return Refs{r, fileReader{r.files}}
}

// Head returns the HEAD of the worktree, as [Repo.Head] does.
func (f Refs) Head(ctx context.Context) (Head, error) {
	return unlessGone(f.repo, func() (Head, error) { return f.reader.head(ctx) })
}

// LocalBranches returns the names of all local branches, as [Repo.LocalBranches] does.
func (f Refs) LocalBranches(ctx context.Context) ([]string, error) {
	return unlessGone(f.repo, func() ([]string, error) { return f.reader.branches(ctx) })
}

// HasBranch reports whether a local branch of this name exists.
func (f Refs) HasBranch(ctx context.Context, name string) (bool, error) {
	return unlessGone(f.repo, func() (bool, error) { return f.reader.hasBranch(ctx, name) })
}

// DefaultBranch returns the branch on which others start, as [Repo.DefaultBranch] does.
func (f Refs) DefaultBranch(ctx context.Context) (string, error) {
	return unlessGone(f.repo, func() (string, error) { return f.standard(ctx) })
}

func (f Refs) standard(ctx context.Context) (string, error) {
	const remote = "refs/remotes/origin/"
	head, err := f.reader.target(ctx, remote+"HEAD")
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
		exists, err := f.reader.hasBranch(ctx, name)
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
func (r *Repo) NoRefs(name string) bool { return !r.usesTable() && r.files.None(name) }

// InTables reports whether git keeps the refs in tables instead of files.
func (f Refs) InTables() bool {
	_, ok := f.reader.(tableReader)
	return ok
}

// refReader reads refs in one of git's formats.
type refReader interface {
	head(ctx context.Context) (Head, error)
	branches(ctx context.Context) ([]string, error)
	hasBranch(ctx context.Context, name string) (bool, error)
	// target returns the full name in a symbolic ref, "" if name is none.
	target(ctx context.Context, name string) (string, error)
}

// fileReader reads refs from files.
type fileReader struct{ *refstore.Store }

func (f fileReader) head(context.Context) (Head, error) {
	ref, err := f.Resolve("HEAD")
	branch, onBranch := strings.CutPrefix(ref.Name, refstore.BranchPrefix)
	switch {
	case errors.Is(err, refstore.ErrBroken) && onBranch && refstore.ValidName(ref.Name):
		return Head{Branch: branch}, fmt.Errorf("read HEAD: %w", err)
	case err != nil:
		return Head{}, fmt.Errorf("read HEAD: %w", err)
	case onBranch:
		return Head{Branch: branch, Commit: ref.Hash, Unborn: ref.Hash == ""}, nil
	case ref.Hash == "":
		return Head{}, fmt.Errorf("read HEAD: %w: it names %q, which does not exist", refstore.ErrBroken, ref.Name)
	default:
		return Head{Detached: true, Commit: ref.Hash}, nil
	}
}

func (f fileReader) branches(ctx context.Context) ([]string, error) { return f.Branches(ctx) }

func (f fileReader) hasBranch(_ context.Context, name string) (bool, error) {
	return f.HasBranch(name)
}

func (f fileReader) target(_ context.Context, name string) (string, error) {
	return f.Target(name)
}
