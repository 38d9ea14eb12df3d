package projectcontext

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/operation"
	"github.com/copse-dev/copse/internal/project"
	"github.com/copse-dev/copse/internal/workflow/stack"
)

// Project describes the location of the project, and its HEAD.
type Project struct {
	Root string
	// Repository is nil outside git.
	Repository *Repository
	// Unnamed means that Root looks like a bare repository, which copse uses only if the user names
	// it.
	Unnamed bool
	// Unusable means that there is a repository that cannot be read. The section says why.
	Unusable bool
}

// Repository is the project's git repository.
type Repository struct {
	Head git.Head
	Bare bool
	// Branch is the current branch: the one that is checked out, or that the operation in progress
	// rebases or bisects; "" if there is none.
	Branch string
	// Operation is the git command that stopped halfway, nil for none.
	Operation *operation.Operation
	// Note is for readers of the branch state, "" for none.
	Note string
	// Standing compares the branch with its parent and with the trunk.
	Standing stack.Standing
	// Adds is what the branch adds to its parent, or to the trunk if it has no parent; nil if it
	// adds nothing.
	Adds *Adds
	// Conflicts are the branches that conflict with the worktree; nil if there are none.
	Conflicts *Conflicts
	// Status compares with the upstream branch; nil if it is not known.
	Status *git.Status
	// GitHub is the repository on GitHub, "" if there is none.
	GitHub string
	// Worktrees are the other usable worktrees.
	Worktrees []git.Worktree
}

// Adds is what a branch adds to another.
type Adds struct {
	Base    string
	Commits int
	// Files counts the changed lines of files by path. It is nil where Unavailable says
	// why they are not known.
	Files       map[string]git.LineCount
	Unavailable string
}

// compareLimit is the time limit for comparing a branch with its parent. The rest of the section is
// useful without it.
const compareLimit = 700 * time.Millisecond

// adds returns what a branch adds to the one that it is compared with.
func adds(ctx context.Context, repo *git.Repo, branch string, s stack.Standing) *Adds {
	base := cmp.Or(s.Parent, s.Trunk)
	if base == nil || base.Ahead == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, compareLimit)
	defer cancel()
	out := &Adds{Base: base.Base, Commits: base.Ahead}
	files, err := repo.DiffBranch(ctx, branch, base.Base)
	switch {
	case err == nil:
		out.Files = files
	case ctx.Err() != nil:
		out.Unavailable = fmt.Sprintf("no answer within %s", compareLimit)
	default:
		out.Unavailable = err.Error()
	}
	return out
}

func (g *gathering) project(ctx context.Context) (Content, error) {
	out := Project{Root: g.Root}
	repo, err := g.Session.Repo(ctx)
	if errors.Is(err, git.ErrNotRepository) {
		_, out.Unnamed = errors.AsType[*git.UnnamedError](err)
		return out, nil
	}
	if err != nil {
		out.Unusable = true
		return out, err
	}
	head, err := repo.Head(ctx)
	if head.Branch == "" && err != nil {
		out.Unusable = true
		return out, err
	}
	out.Repository = &Repository{Head: head, Bare: repo.Bare(), Branch: head.Branch}
	if repo.Bare() {
		return out, nil
	}
	if going := repo.Operation(); going != nil {
		out.Repository.Operation, out.Repository.Branch = going, cmp.Or(head.Branch, going.Branch)
	}
	radar := make(chan *Conflicts, 1)
	go func() { radar <- g.conflicting(ctx) }()
	out.Repository.Note = g.Branches.Note(ctx)
	if out.Repository.Branch != "" && !head.Unborn {
		// The rest of the section is useful without it.
		if standing, err := g.Branches.Standing(ctx, out.Repository.Branch); err == nil {
			out.Repository.Standing = standing
			out.Repository.Adds = adds(ctx, repo, out.Repository.Branch, standing)
		}
	}
	found, err := g.workingTree(ctx)
	if err == nil {
		out.Repository.Status = &found.status
	}
	if origin, err := g.Pulls.Repository(ctx, ""); err == nil {
		out.Repository.GitHub = origin.Host + "/" + origin.String()
	}
	// The rest of the section is useful without the list.
	if list, err := repo.Worktrees(ctx); err == nil {
		out.Repository.Worktrees = slices.DeleteFunc(slices.Clone(list), func(w git.Worktree) bool {
			return w.Path == g.Root || w.Bare || w.Prunable
		})
	}
	out.Repository.Conflicts = <-radar
	return out, err
}

// Changes are the files that differ from the last commit.
type Changes struct {
	Status git.Status
	Files  []git.Change
	// Lines counts the changed lines of files by path.
	Lines map[string]git.LineCount
	// Stamps are the sizes and times of files by path, which distinguish two states of a file with
	// the same number of changed lines.
	Stamps map[string]string
}

const (
	// maxStamps is the maximum number of examined changed files, and maxNested that of files and
	// directories in an untracked directory, which is one change.
	maxStamps = 500
	maxNested = 500
	// maxLevels is how deep an untracked directory is looked at.
	maxLevels = 20
	// maxDirectories is how many untracked directories are looked into.
	maxDirectories = 10
)

// stamps looks at changed files.
func (g *gathering) stamps(ctx context.Context, files []git.Change) map[string]string {
	out := make(map[string]string)
	directories := 0
	for _, f := range files[:min(len(files), maxStamps)] {
		switch {
		case !strings.HasSuffix(f.Path, "/"):
			out[f.Path] = stampOf(g.Root, f.Path)
		case f.Path == ".tic/" || f.Path == ".twig/":
			// The sections about stacks and items tell what changed in them.
		case directories < maxDirectories:
			directories++
			out[f.Path] = g.nested(ctx, f.Path)
		}
	}
	return out
}

// stampOf returns the size and the time of a file below root, "" if there is none.
func stampOf(root, path string) string {
	info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// nested returns a stamp of the files in a directory that git does not ignore. The time of
// the directory itself says nothing about a change in a file.
func (g *gathering) nested(ctx context.Context, dir string) string {
	listing, err := g.Files.List(ctx, dir, project.Range{Depth: maxLevels, Max: maxNested, Few: true})
	if err != nil {
		return "" // it was removed meanwhile, or cannot be read
	}
	sum := fnv.New64a()
	for _, e := range listing.Entries {
		// A directory's own time also changes with files that git ignores.
		stamp := ""
		if e.Type != project.Directory {
			stamp = stampOf(g.Root, e.Path)
		}
		fmt.Fprintf(sum, "%s\x00%s\x00", e.Path, stamp)
	}
	return fmt.Sprintf("%x", sum.Sum64())
}

func (g *gathering) git(ctx context.Context) (Content, error) {
	repo, err := g.Session.Repo(ctx)
	if err != nil {
		return nil, err
	}
	var out Changes
	found, err := g.workingTree(ctx)
	if err == nil {
		out.Status, out.Files = found.status, found.changed
		out.Lines, err = changedLines(ctx, repo, out.Files)
	}
	switch {
	case errors.Is(err, git.ErrBare):
		return nil, emptyError("a bare repository")
	case err != nil:
		return nil, err
	case len(out.Files) == 0 && !out.Status.Partial:
		return nil, emptyError("no changes")
	}
	out.Stamps = g.stamps(ctx, out.Files)
	return out, nil
}

const (
	// maxCompared is how many files git is asked to compare by name, and maxNames how many
	// bytes their names may have; with more, it compares all.
	maxCompared = 500
	maxNames    = 64 << 10
)

// changedLines counts the changed lines of files that git tracks. Naming them spares git a
// second look at every file of the worktree.
func changedLines(ctx context.Context, repo *git.Repo, files []git.Change) (map[string]git.LineCount, error) {
	var paths []string
	size := 0
	for _, f := range files {
		if f.Code == "??" {
			continue
		}
		for _, path := range []string{f.Path, f.From} {
			if path != "" {
				paths, size = append(paths, path), size+len(path)
			}
		}
	}
	switch {
	case len(paths) == 0:
		return nil, nil
	case len(paths) > maxCompared || size > maxNames:
		return repo.DiffStat(ctx)
	}
	return repo.DiffStat(ctx, paths...)
}

// Commits are the last commits, the newest first.
type Commits []git.Commit

const (
	// usualCommits is how many of the last commits are read for an answer of usual length.
	usualCommits = 5
	// maxScale is how many times more is read for a long one.
	maxScale = 10
)

func (g *gathering) recent(ctx context.Context) (Content, error) {
	repo, err := g.Session.Repo(ctx)
	if err != nil {
		return nil, err
	}
	commits, err := repo.Log(ctx, max(usualCommits*min(Scale(g.request.Tokens), maxScale), g.request.Commits))
	if err != nil {
		return nil, err
	}
	if len(commits) == 0 {
		return nil, emptyError("no commits")
	}
	return Commits(commits), nil
}

// Files are the entries of the project's directory and of those in it, and of deeper ones
// for a long answer.
type Files project.Listing

// Usual returns the entries that an answer of usual length has, and whether more of their
// levels were left out. They are the same for each length.
func (f Files) Usual() (entries []project.Entry, cut bool) {
	for _, e := range f.Entries {
		if strings.Count(e.Path, "/") >= treeDepth {
			return entries, false
		}
		if len(entries) == treeMax {
			return entries, true
		}
		entries = append(entries, e)
	}
	return entries, f.Total > len(f.Entries)
}

const (
	// treeDepth is how many levels of directories are listed, and treeMax how many
	// entries.
	treeDepth = 2
	treeMax   = 400
	// maxDepth is how many levels are listed for a long answer.
	maxDepth = 5
)

func (g *gathering) tree(ctx context.Context) (Content, error) {
	scale := min(Scale(g.request.Tokens), maxScale)
	// Twice the length is one more level.
	depth := min(treeDepth+bits.Len(uint(scale))-1, maxDepth)
	repo, err := g.Session.Repo(ctx)
	switch _, unnamed := errors.AsType[*git.UnnamedError](err); {
	case unnamed:
		return nil, err // its directory has git's own files
	case err == nil && repo.Bare():
		return nil, emptyError("a bare repository has no files")
	}
	listing, err := g.Files.List(ctx, ".", project.Range{Depth: depth, Max: treeMax * scale})
	if err != nil {
		return nil, err
	}
	files := Files(listing).withoutHidden()
	if len(files.Entries) == 0 && files.LeftOut == 0 {
		return nil, emptyError("no files")
	}
	return files, nil
}
