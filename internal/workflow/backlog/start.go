package backlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/regular"
)

// StartOptions configure the start of work on an item.
type StartOptions struct {
	// Branch is the name of the branch; "" is the linked branch of the item, or else one derived
	// from its title.
	Branch string
	// Base is the branch on which a new branch starts; "" is the one that is checked out.
	Base string
	// NewWorktree requests a separate worktree, .worktrees/<branch> next to the main one.
	NewWorktree bool
	// Redact returns a title without secrets, which a name in lower case would hide; nil keeps it.
	Redact func(title string) string
}

// title returns the title of an item without secrets.
func (o StartOptions) title(it item.Item) string {
	if o.Redact == nil {
		return it.Title
	}
	return o.Redact(it.Title)
}

// Start describes the start of work on an item.
type Start struct {
	ID     item.ID `json:"id"`
	Branch string  `json:"branch"`
	// Parent is the branch on which a new branch starts; "" if there is no base and none is checked out,
	// or if the branch exists.
	Parent   string `json:"parent,omitempty"`
	Worktree string `json:"worktree,omitempty"`
	// Command is the git command that creates or switches to the branch.
	Command []string `json:"command"`

	// Held means that the agent that planned the start holds the item already.
	Held bool `json:"-"`
}

// Worker returns the agent who works on the item after the start: the given one, in the new worktree
// if there is one.
func (s *Start) Worker(by claim.Agent) claim.Agent {
	by.Worktree = cmp.Or(s.Worktree, by.Worktree)
	return by
}

// PlanStart returns the start of work on an item. It changes nothing. The error is an
// [*storage.HeldError] if an agent other than that of the context, here or in the new worktree, holds
// the item.
func (b *Backlog) PlanStart(ctx context.Context, repo *git.Repo, id item.ID, o StartOptions) (Start, error) {
	it, err := b.backend.Item(ctx, id)
	if err != nil {
		return Start{}, err
	}
	all, err := b.backend.Snapshot(ctx)
	if err != nil {
		return Start{}, err
	}
	if _, err := (item.Config{}).Check(item.Patch{Branch: &o.Branch}); err != nil {
		return Start{}, err
	}
	s := Start{ID: it.ID, Branch: cmp.Or(o.Branch, it.Link.Branch)}
	if s.Branch == "" {
		s.Branch = branchName(it.ID, o.title(it))
	}
	if o.NewWorktree {
		name := strings.ReplaceAll(strings.TrimPrefix(s.Branch, "tic/"), "/", "-")
		s.Worktree = filepath.Join(mainRoot(repo), worktrees, name)
	}
	if c, held := all.Claim(id); held {
		by := claim.AgentOf(ctx)
		s.Held = by.Shares(c.Holder)
		if worker := s.Worker(by); !s.Held && !worker.Shares(c.Holder) {
			return Start{}, &storage.HeldError{ID: id, Claim: c}
		}
	}
	exists, err := repo.HasBranch(ctx, s.Branch)
	if err != nil {
		return Start{}, err
	}
	if s.Parent, err = startOf(ctx, repo, s.Branch, exists, o); err != nil {
		return Start{}, err
	}
	switch {
	case o.NewWorktree:
		if err := checkOwn(filepath.Dir(s.Worktree)); err != nil {
			return Start{}, err
		}
		if _, err := os.Lstat(s.Worktree); !regular.Absent(err) {
			return Start{}, &OccupiedError{Path: s.Worktree}
		}
		s.Command = []string{"git", "worktree", "add", "-b", s.Branch, s.Worktree}
		if s.Parent != "" { // git records a name, which the commit alone does not have
			s.Command = append(s.Command, revision(ctx, repo, s.Parent))
		}
		from := s.Parent
		if exists {
			from = s.Branch
			s.Command = []string{"git", "worktree", "add", s.Worktree, s.Branch}
		}
		if err := b.found(ctx, repo, id, from, "new worktree"); err != nil {
			return Start{}, err
		}
	case exists:
		s.Command = []string{"git", "switch", s.Branch}
	default:
		if s.Command, err = b.switchTo(ctx, repo, s, o.Base); err != nil {
			return Start{}, err
		}
	}
	return s, nil
}

// startOf returns the branch on which a new branch starts, "" for one that exists, or if none is known.
func startOf(ctx context.Context, repo *git.Repo, branch string, exists bool, o StartOptions) (string, error) {
	switch {
	case exists && o.Base != "":
		return "", fmt.Errorf("the branch %s already exists, and --base is for a new branch", cleantext.Line(branch))
	case exists:
		return "", free(ctx, repo, branch, o.NewWorktree)
	case o.Base == "":
		return parent(ctx, repo, o.NewWorktree)
	}
	known, err := repo.HasBranch(ctx, o.Base)
	if err == nil && !known {
		err = &UnknownBaseError{Branch: o.Base}
	}
	return o.Base, err
}

// switchTo returns the command that creates the branch of a start in this worktree, on base, or else on
// the current commit.
func (b *Backlog) switchTo(ctx context.Context, repo *git.Repo, s Start, base string) ([]string, error) {
	command := []string{"git", "switch", "-c", s.Branch}
	if base == "" {
		return command, nil
	}
	return append(command, revision(ctx, repo, base)), b.found(ctx, repo, s.ID, base, "worktree")
}

// directory is a backend that keeps the items in a directory.
type directory interface {
	Path() (string, error)
}

// UnknownBaseError reports that the branch on which a new one should start does not exist.
type UnknownBaseError struct{ Branch string }

func (e *UnknownBaseError) Error() string { return fmt.Sprintf("there is no branch %q", e.Branch) }

// found returns a [*NotInCommitError] if a worktree of a branch would have a store of its own without
// an item. "" is the current commit, and place names the worktree in the error.
func (b *Backlog) found(ctx context.Context, repo *git.Repo, id item.ID, branch, place string) error {
	files, ok := b.backend.(directory)
	if !ok {
		return nil
	}
	store, err := files.Path()
	if err != nil {
		return err
	}
	name, err := filepath.Rel(repo.Root(), store)
	if err != nil || !filepath.IsLocal(name) {
		return nil //nolint:nilerr // a store outside the worktree is that of all worktrees
	}
	commit := "HEAD"
	if branch != "" {
		commit = "refs/heads/" + branch
	}
	name = filepath.ToSlash(name)
	has := func(file string) bool {
		out, failed := repo.Program().Run(ctx, "--literal-pathspecs", "ls-tree", "-z", "--name-only", "--full-tree", commit, "--", file)
		err = errors.Join(err, failed)
		return len(out) > 0
	}
	if ok := has(path.Join(name, layout.Item(id))) || mainRoot(repo) == repo.Root() && !has(name); ok || err != nil {
		return err
	}
	return &NotInCommitError{ID: id, Branch: branch, Store: name, place: place}
}

// NotInCommitError reports that a worktree would not have an item, as its commit has another
// version of the store.
type NotInCommitError struct {
	ID item.ID
	// Branch is the branch of the worktree, or the one it starts on; "" is the current commit.
	Branch string
	// Store is the path of the store in the worktree.
	Store string

	place string
}

func (e *NotInCommitError) Error() string {
	return fmt.Sprintf("%s does not have work item #%d, so the %s would not have it", cmp.Or(cleantext.Line(e.Branch), "the current commit"), e.ID, e.place)
}

// ErrNoCommit reports that a worktree needs a commit, and the current branch has none.
var ErrNoCommit = errors.New("the current branch has no commit yet, so git cannot create a worktree; create the first commit, or leave out --worktree")

// parent returns the branch that is checked out; "" if there is none, or if git would not take its
// name for that of a branch. The error is [ErrNoCommit] if a new worktree needs a commit.
func parent(ctx context.Context, repo *git.Repo, newWorktree bool) (string, error) {
	head, err := repo.Head(ctx)
	if err == nil && head.Unborn && newWorktree {
		return "", ErrNoCommit
	}
	if err != nil || head.Unborn {
		return "", nil //nolint:nilerr // without a parent, git decides
	}
	if _, err := (item.Config{}).Check(item.Patch{Branch: &head.Branch}); err != nil {
		return "", nil //nolint:nilerr // as above
	}
	return head.Branch, nil
}

// revision returns the shortest name by which git finds a branch. It prefers a tag to a branch.
func revision(ctx context.Context, repo *git.Repo, branch string) string {
	tag := "refs/tags/" + branch
	if found, err := repo.CommitsOf(ctx, []string{tag}); err != nil || found[tag] != "" {
		return "refs/heads/" + branch
	}
	return branch
}

// worktrees is the directory of new worktrees, in the main one.
const worktrees = ".worktrees"

// mainRoot returns the directory that new worktrees are below.
func mainRoot(repo *git.Repo) string { return cmp.Or(repo.MainRoot(), repo.Root()) }

// CheckedOutError reports that the branch of an item is already checked out.
type CheckedOutError struct {
	Branch, Path string
	// InThisWorktree means that Path is the current worktree.
	InThisWorktree bool
}

func (e *CheckedOutError) Error() string {
	if e.InThisWorktree {
		return fmt.Sprintf("the branch %s is already checked out in this worktree", cleantext.Line(e.Branch))
	}
	return fmt.Sprintf("the branch %s is already checked out in the worktree %s", cleantext.Line(e.Branch), cleantext.Line(e.Path))
}

// OccupiedError reports that the directory of a new worktree exists.
type OccupiedError struct{ Path string }

func (e *OccupiedError) Error() string {
	return fmt.Sprintf("the directory %s already exists", cleantext.Line(e.Path))
}

// free returns a [*CheckedOutError] if another worktree has a branch, or any worktree.
func free(ctx context.Context, repo *git.Repo, branch string, anywhere bool) error {
	all, err := repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		if here := w.Path == repo.Root(); w.Branch == branch && !w.Prunable && (!here || anywhere) {
			return &CheckedOutError{Branch: branch, Path: w.Path, InThisWorktree: here}
		}
	}
	return nil
}

// hide makes git ignore the directory of new worktrees, as it ignores .twig. It refuses a directory
// that is a link out of the repository.
func hide(repo *git.Repo) error {
	root, err := regular.OpenRoot(mainRoot(repo))
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(worktrees, 0o755); err != nil {
		return err
	}
	file, err := root.OpenFile(worktrees+"/.gitignore", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString("*\n")
	return errors.Join(err, file.Close())
}

// checkOwn returns an error if dir is a link: a repository can contain one, and git would
// create the worktree where it leads.
func checkOwn(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is a %s, not a directory: remove it, or create the worktree elsewhere with `git worktree add`", dir, regular.Kind(info.Mode()))
	}
	return nil
}

// inProgress is the status of a started item, in projects that have it.
const inProgress = "in-progress"

// Begin runs the command of a start, links the item with its branch and worktree, assigns it to the
// agent of the context if it is assigned to nobody, and sets it in progress if it is in the first
// status.
func (b *Backlog) Begin(ctx context.Context, repo *git.Repo, s Start) error {
	p, err := b.begun(ctx, s)
	if err != nil { // before git changes anything
		return err
	}
	if err := repo.Writable("refs/heads/" + s.Branch); err != nil {
		return err
	}
	if s.Worktree == "" {
		if _, err := os.Lstat(filepath.Join(repo.GitDir(), "MERGE_AUTOSTASH")); !regular.Absent(err) { // git would add its commit to the stash
			return errors.New("a merge with --autostash has not ended; run `git merge --continue` or `git merge --abort`, or remove git's file MERGE_AUTOSTASH")
		}
	}
	if s.Worktree != "" {
		if err := hide(repo); err != nil {
			return fmt.Errorf("prepare the directory of the worktree: %w", err)
		}
	}
	args := slices.Clone(s.Command[1:])
	if args[0] == "switch" {
		// Git would list the changes in submodules, and run what their own configuration names.
		args = slices.Insert(args, 1, "--quiet")
	}
	if _, err := repo.Program().Writing().Run(ctx, args...); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(s.Command[:2], " "), err)
	}
	ctx = context.WithoutCancel(ctx) // the branch is there
	if _, err := b.backend.Update(ctx, s.ID, p); err != nil {
		return errors.Join(fmt.Errorf("the branch %s was created, but the item was not linked", s.Branch), err)
	}
	return nil
}

// Record records the start of work on an item as [Backlog.Begin] does, but runs nothing. It is for
// the items of a new worktree with a store of its own.
func (b *Backlog) Record(ctx context.Context, s Start) error {
	p, err := b.begun(ctx, s)
	if err != nil {
		return err
	}
	_, err = b.backend.Update(ctx, s.ID, p)
	return err
}

// begun returns the change of an item by the start of work on it.
func (b *Backlog) begun(ctx context.Context, s Start) (item.Patch, error) {
	it, err := b.backend.Item(ctx, s.ID)
	if err != nil {
		return item.Patch{}, err
	}
	config, err := b.backend.Config(ctx)
	if err != nil {
		return item.Patch{}, err
	}
	p := item.Patch{Branch: &s.Branch}
	if s.Worktree != "" {
		p.Worktree = &s.Worktree
	}
	if by := claim.AgentOf(ctx).Name; it.Assignee == "" && by != "" {
		p.Assignee = &by
	}
	if it.Status == config.Statuses[0] && slices.Contains(config.Statuses, inProgress) {
		p.Status = new(inProgress)
	}
	_, err = config.Check(p)
	return p, err
}
