package projectcontext

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// Project is where the project is, and what is checked out.
type Project struct {
	Root string
	// Repository is nil outside of git.
	Repository *Repository
}

// Repository is the project's git repository.
type Repository struct {
	Head git.Head
	Bare bool
	// Branch is the branch that is worked on: the one that is checked out, or that the
	// operation in progress rebases or bisects; "" if there is none.
	Branch string
	// Operation is the git command that stopped halfway, nil for none.
	Operation *operation.Operation
	// Note is what a reader of the branch state should know, "" for nothing.
	Note string
	// Standing compares the branch with its parent and with the trunk.
	Standing stack.Standing
	// Status compares with the upstream branch; nil if it is not known.
	Status *git.Status
	// GitHub is the repository on GitHub, "" if there is none.
	GitHub string
	// Worktrees are the other worktrees that can be worked in.
	Worktrees []git.Worktree
}

func (g *gathering) project(ctx context.Context) (Content, error) {
	out := Project{Root: g.Root}
	repo, err := g.Session.Repo(ctx)
	if errors.Is(err, git.ErrNotRepository) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	head, err := repo.Head(ctx)
	if head.Branch == "" && err != nil {
		return out, err
	}
	out.Repository = &Repository{Head: head, Bare: repo.Bare(), Branch: head.Branch}
	if repo.Bare() {
		return out, nil
	}
	if going := repo.Operation(); going != nil {
		out.Repository.Operation, out.Repository.Branch = going, cmp.Or(head.Branch, going.Branch)
	}
	out.Repository.Note = g.Branches.Note(ctx)
	if out.Repository.Branch != "" && !head.Unborn {
		// The rest of the section is worth showing without it.
		if standing, err := g.Branches.Standing(ctx, out.Repository.Branch); err == nil {
			out.Repository.Standing = standing
		}
	}
	found, err := g.workingTree(ctx)
	if err == nil {
		out.Repository.Status = &found.status
	}
	if origin, err := g.Pulls.Repository(ctx, ""); err == nil {
		out.Repository.GitHub = origin.Host + "/" + origin.String()
	}
	// The rest of the section is worth showing without the list.
	if list, err := repo.Worktrees(ctx); err == nil {
		out.Repository.Worktrees = slices.DeleteFunc(slices.Clone(list), func(w git.Worktree) bool {
			return w.Path == g.Root || w.Bare || w.Prunable
		})
	}
	return out, err
}

// Changes are the files that differ from the last commit.
type Changes struct {
	Status git.Status
	Files  []git.Change
	// Lines counts the changed lines of files by path.
	Lines map[string]git.LineCount
}

func (g *gathering) git(ctx context.Context) (Content, error) {
	repo, err := g.Session.Repo(ctx)
	if err != nil {
		return nil, err
	}
	var out Changes
	both, asking := errgroup.WithContext(ctx)
	both.Go(func() error {
		found, err := g.workingTree(asking)
		out.Status, out.Files = found.status, found.changed
		return err
	})
	both.Go(func() (err error) {
		out.Lines, err = repo.DiffStat(asking)
		return err
	})
	err = both.Wait()
	switch {
	case errors.Is(err, git.ErrBare):
		return nil, emptyError("a bare repository")
	case err != nil:
		return nil, err
	case len(out.Files) == 0:
		return nil, emptyError("no changes")
	}
	return out, nil
}

// Commits are the last commits, the newest first.
type Commits []git.Commit

// maxCommits is how many of the last commits are read.
const maxCommits = 5

func (g *gathering) recent(ctx context.Context) (Content, error) {
	repo, err := g.Session.Repo(ctx)
	if err != nil {
		return nil, err
	}
	commits, err := repo.Log(ctx, maxCommits)
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return nil, emptyError("no commits")
	}
	return Commits(commits), nil
}

// Files are the entries of the project's directory and of those in it.
type Files project.Listing

const (
	// treeDepth is how many levels of directories are listed, and treeMax how many
	// entries.
	treeDepth = 2
	treeMax   = 400
)

func (g *gathering) tree(ctx context.Context) (Content, error) {
	listing, err := g.Files.List(ctx, ".", project.Range{Depth: treeDepth, Max: treeMax})
	if err != nil {
		return nil, err
	}
	if len(listing.Entries) == 0 {
		return nil, emptyError("no files")
	}
	return Files(listing), nil
}
