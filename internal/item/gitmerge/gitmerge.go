// Package gitmerge finds the three trees of a merge of work items that git has open, or has just
// completed: of a merge, a rebase, a cherry-pick, or a revert.
//
// It queries git and does not interpret the files: git decides whether a merge of a store is open,
// whatever its texts look like. The package writes nothing. [Find] returns a [Merge]; package merge
// computes the result from its trees, and [Merge.Rank] reports which items are published.
package gitmerge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/item/gitmerge/births"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/xec"
)

// Kind is the operation in git.
type Kind string

// Kinds of merges.
const (
	OfMerge      Kind = "merge"
	OfRebase     Kind = "rebase"
	OfCherryPick Kind = "cherry-pick"
	OfRevert     Kind = "revert"
	// OfStages is a merge that only the index knows: of a stash, a patch, or a checkout.
	OfStages Kind = "conflict"
)

// Merge is a merge of a store.
type Merge struct {
	Kind Kind
	// Name is constant while this merge, or this stop of a rebase, is open.
	Name string
	// Done means that git has already made the commit: the last commit is a merge.
	Done bool
	// Base, Ours, and Theirs are the store in the merged trees.
	Base, Ours, Theirs merge.Tree
	// Left is the store as git has combined it; for files that it could not merge, it has our
	// version.
	Left merge.Tree
	// Stages are the versions of the files that git could not merge, as it has them: of
	// the base, of ours and of theirs. A merge that is done has none.
	Stages [3]merge.Tree
	// Unmerged are the files that git could not merge, sorted.
	Unmerged []string

	repo   *Repo
	onto   string // what a rebase builds on
	before string // the commit before a revert that is done
}

// Repo is the git worktree that a store is in.
type Repo struct {
	git    *git.Repo
	prefix string // of the store, from the root of the worktree, with a slash
}

// ErrNoRepository reports that a store is in no git worktree, or is not kept in it.
var ErrNoRepository = errors.New("the store is in no git worktree")

// OpenRepo finds the worktree of the store in a directory.
func OpenRepo(ctx context.Context, directory string, options git.Options) (*Repo, error) {
	real, err := filepath.EvalSymlinks(directory)
	if err != nil {
		return nil, ErrNoRepository
	}
	repo, err := git.Discover(ctx, filepath.Dir(real), options)
	if err != nil || repo.Root() == "" {
		return nil, ErrNoRepository
	}
	rel, err := filepath.Rel(repo.Root(), real)
	if err != nil || !filepath.IsLocal(rel) {
		return nil, ErrNoRepository
	}
	return &Repo{git: repo, prefix: filepath.ToSlash(rel) + "/"}, nil
}

// Git returns the repository.
func (r *Repo) Git() *git.Repo { return r.git }

// Prefix returns the path of the store from the root of the worktree, with a slash.
func (r *Repo) Prefix() string { return r.prefix }

// run runs git and returns what it printed, without the line break at the end.
func (r *Repo) run(ctx context.Context, args ...string) (string, error) {
	out, err := r.git.Program().Run(ctx, args...)
	return strings.TrimRight(string(out), "\n"), err
}

// commit returns the hash of a commit; "" if there is no commit of that name.
func (r *Repo) commit(ctx context.Context, name string) (string, error) {
	hashes, err := r.commits(ctx, name)
	if err != nil {
		return "", err
	}
	return hashes[0], nil
}

// commits returns the hash of each commit, with one process; "" for a name that no commit
// has.
func (r *Repo) commits(ctx context.Context, names ...string) ([]string, error) {
	asked := make([]string, len(names))
	for i, name := range names {
		if name != "" {
			asked[i] = name + "^{commit}"
		}
	}
	found, err := objects.Describe(ctx, r.git.Program().Feed, asked...)
	if err != nil {
		return nil, err
	}
	hashes := make([]string, len(names))
	for i, o := range found {
		hashes[i] = o.Hash
	}
	return hashes, nil
}

// Find returns the merge that is open in the worktree; nil if there is none.
func (r *Repo) Find(ctx context.Context) (*Merge, error) {
	m := &Merge{repo: r}
	stages, err := r.stages(ctx)
	if err != nil {
		return nil, err
	}
	m.Unmerged = stages.unmerged()
	kinds := []Kind{OfRebase, OfCherryPick, OfRevert, OfMerge}
	heads, err := r.commits(ctx, "REBASE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "MERGE_HEAD", "HEAD")
	if err != nil {
		return nil, err
	}
	head := heads[len(kinds)]
	if _, going := r.rebaseDir(); !going {
		heads[0] = "" // a rebase leaves it behind
	}
	for i, kind := range kinds {
		other := heads[i]
		if other == "" || head == "" {
			continue
		}
		m.Kind, m.Name = kind, string(kind)+" "+head+" "+other
		if err := m.readTrees(ctx, head, other); err != nil {
			return nil, err
		}
		break
	}
	if m.Kind == "" && len(m.Unmerged) == 0 {
		return nil, nil
	}
	if m.Left, err = r.read(ctx, stages.left()); err != nil {
		return nil, err
	}
	for i := range m.Stages {
		if m.Stages[i], err = r.read(ctx, stages[i+1]); err != nil {
			return nil, err
		}
	}
	if m.Kind == "" {
		m.Kind, m.Name = OfStages, string(OfStages)+" "+stages.name()
		for i, tree := range []*merge.Tree{&m.Base, &m.Ours, &m.Theirs} {
			if *tree, err = r.read(ctx, stages.tree(i+1)); err != nil {
				return nil, err
			}
		}
	}
	return m, nil
}

func (r *Repo) rebaseDir() (path string, ok bool) {
	for _, name := range []string{"rebase-merge", "rebase-apply"} {
		path := filepath.Join(r.git.GitDir(), name)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return path, true
		}
	}
	return "", false
}

// readTrees reads the trees to merge: other into head, or the change that other made.
func (m *Merge) readTrees(ctx context.Context, head, other string) error {
	r := m.repo
	base, theirs := other+"^", other
	switch m.Kind {
	case OfRevert:
		base, theirs = other, other+"^"
	case OfRebase:
		if directory, ok := r.rebaseDir(); ok {
			onto, _ := regular.Read(filepath.Join(directory, "onto"), maxName) // without it, nothing is known to be published
			m.onto = strings.TrimSpace(string(onto))
		}
	}
	var err error
	if m.Ours, err = r.tree(ctx, head); err != nil {
		return err
	}
	if m.Theirs, err = r.tree(ctx, theirs); err != nil {
		return err
	}
	if m.Kind == OfMerge {
		m.Base, err = r.commonTree(ctx, head, other)
		return err
	}
	m.Base, err = r.tree(ctx, base)
	return err
}

// Last returns the merge that the last commit is; nil if it is none.
func (r *Repo) Last(ctx context.Context) (*Merge, error) {
	parents, err := r.run(ctx, "rev-list", "--no-walk", "--parents", "-1", "HEAD")
	if _, exited := errors.AsType[*xec.ExitError](err); exited {
		return nil, nil
	}
	hashes := strings.Fields(parents)
	if err != nil || len(hashes) != 3 {
		return nil, err
	}
	return r.merged(ctx, hashes)
}

// merged returns the merge that a commit is: its hash and those of its two parents.
func (r *Repo) merged(ctx context.Context, hashes []string) (m *Merge, err error) {
	m = &Merge{Kind: OfMerge, Name: "done " + hashes[0], Done: true, repo: r}
	if m.Left, err = r.tree(ctx, hashes[0]); err != nil {
		return nil, err
	}
	return m, m.readTrees(ctx, hashes[1], hashes[2])
}

// maxBases is the maximum number of common commits that are merged for a base. Merges of merges can
// have exponentially many, and one of them is base enough.
const maxBases = 20

// commonTree returns the store in the last common commit. Where there are several,
// they are merged.
func (r *Repo) commonTree(ctx context.Context, a, b string) (merge.Tree, error) {
	left := maxBases
	return r.mergedBases(ctx, a, b, &left)
}

// mergedBases is commonTree with the number of common commits that can still be merged.
func (r *Repo) mergedBases(ctx context.Context, a, b string, left *int) (merge.Tree, error) {
	out, err := r.run(ctx, "merge-base", "--all", a, b)
	if _, exited := errors.AsType[*xec.ExitError](err); exited {
		return nil, nil // histories without a common commit
	}
	if err != nil {
		return nil, err
	}
	bases := strings.Fields(out)
	slices.Sort(bases)
	tree, err := r.tree(ctx, bases[0])
	for _, other := range bases[1:] {
		if err != nil {
			return nil, err
		}
		if *left--; *left < 0 {
			break
		}
		var common, theirs merge.Tree
		if common, err = r.mergedBases(ctx, bases[0], other, left); err != nil {
			return nil, err
		}
		if theirs, err = r.tree(ctx, other); err != nil {
			return nil, err
		}
		merged, mergeErr := merge.Stores(common, tree, theirs, merge.Options{Retitled: r.Retitled(ctx)})
		if mergeErr != nil {
			return tree, nil //nolint:nilerr // one of them is base enough
		}
		tree = merged.Tree
	}
	return tree, err
}

// births returns a finder of items in commits.
func (r *Repo) births() *births.Finder {
	return births.New(r.git.Program(), r.prefix, func(ctx context.Context, hashes map[string]string) (merge.Tree, error) {
		return r.contents(ctx, hashes)
	})
}

// Options returns those of the merge's Stores.
func (m *Merge) Options(ctx context.Context) (merge.Options, error) {
	r := m.repo
	finder := r.births()
	first, err := m.onto, error(nil) // the commit that ours will be part of
	if first == "" {
		first, err = r.commit(ctx, "refs/remotes/origin/HEAD")
	}
	if err != nil {
		return merge.Options{}, err
	}
	others, err := finder.Published(ctx)
	if err != nil {
		return merge.Options{}, err
	}
	commits := append([]string{first}, others...)
	return merge.Options{Retitled: r.Retitled(ctx), Rank: func(b merge.Birth) int { return finder.Rank(ctx, commits, b) }}, nil
}

// Steps returns the commands that finish the merge in git, once the store is repaired.
func (m *Merge) Steps() []string {
	add := "git add -A -- " + strings.TrimSuffix(m.repo.prefix, "/")
	switch {
	case m.Done:
		return []string{add, "git commit"}
	case m.Kind == OfMerge:
		return []string{add, "git commit --no-edit"}
	case m.Kind == OfStages:
		return []string{add}
	}
	return []string{add, "git " + string(m.Kind) + " --continue"}
}

// IsStored reports whether a file of the store is merged: all files except private ones.
func IsStored(name string) bool {
	return name == merge.ConfigName || name == renumbered.Name ||
		strings.HasPrefix(name, merge.ItemsDir+"/") || strings.HasPrefix(name, merge.TrashDir+"/") ||
		strings.HasPrefix(name, merge.LinksDir+"/")
}

// Add marks the store as merged for git, as the first of the Steps does. It is for a
// person who asked for it. A store with a submodule is an error: git would run the programs that the
// submodule's own configuration names.
func (m *Merge) Add(ctx context.Context) error {
	if err := m.repo.git.Writable(); err != nil {
		return err
	}
	store := strings.TrimSuffix(m.repo.prefix, "/")
	staged, err := m.repo.run(ctx, "--literal-pathspecs", "ls-files", "--stage", "-z", "--", store)
	if err != nil {
		return err
	}
	for entry := range strings.SplitSeq(staged, "\x00") {
		if mode, _, _ := strings.Cut(entry, " "); mode == gitlink {
			_, path, _ := strings.Cut(entry, "\t")
			return fmt.Errorf("%s is a submodule, and git would run what its own configuration names; remove it, or run the command yourself", foreign.Path(path))
		}
	}
	_, err = m.repo.git.Program().Writing().Run(ctx, "--literal-pathspecs", "add", "-A", "--", store)
	return err
}

// gitlink is the mode of a submodule in the index.
const gitlink = "160000"

// SetDriver adds a merge driver to the configuration of the repository. It is for a person who
// asked for it. If the command does not start, or is killed, git merges the lines of the file, as in a
// clone that has no driver: otherwise it would keep our version, with no sign that theirs is missing.
func (r *Repo) SetDriver(ctx context.Context, name, command string) error {
	if err := r.git.Writable(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx) // all or none
	for _, setting := range [][2]string{{"name", "work items, field by field"}, {"driver", command + " %O %A %B %P || { test $? -ge 126 && git merge-file -L ours -L base -L theirs %A %O %B; }"}} {
		if _, err := r.git.Program().Brief().Run(ctx, "config", "--local", "merge."+name+"."+setting[0], setting[1]); err != nil {
			return fmt.Errorf("add the merge driver to git's configuration: %w", err)
		}
	}
	return nil
}
