package gitmerge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/item/gitmerge/commits"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/references"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/xec"
)

// slack is the maximum difference between the clocks of computers that share a repository.
const slack = 24 * time.Hour

// Copied returns the commits that git copied from others, as a cherry-pick
// and a rebase do, oldest first: those of HEAD that change items, that the commit since does not
// contain, and whose original is in the repository. "git cherry-pick -x" names the original;
// otherwise, it has the author, the time, and the subject of the copy. Merges follow, as a copy of
// the changes of both sides: if only one side changed an item, git copies its numbers.
func (p *Past) Copied(ctx context.Context) (found []references.Copy, err error) {
	r := p.repo
	made, originals, err := p.made(ctx, merge.ItemsDir)
	if err != nil {
		return nil, err
	}
	files, err := r.filesOf(ctx, slices.Concat(slices.Collect(maps.Values(originals))...))
	if err != nil {
		return nil, err
	}
	var copies []*copiedCommit
	for _, c := range slices.Backward(made) {
		if len(originals[c]) > 0 {
			copies = append(copies, r.copyOf(c, originals[c], files))
		}
	}
	merged, err := p.merged(ctx)
	if err != nil {
		return nil, err
	}
	return r.readCopies(ctx, append(copies, merged...))
}

// readCopies reads the changes of commits and their originals.
func (r *Repo) readCopies(ctx context.Context, copies []*copiedCommit) ([]references.Copy, error) {
	// First the files that the commits change, then the items that these refer to.
	if err := r.fill(ctx, copies); err != nil {
		return nil, err
	}
	for _, c := range copies {
		c.wantReferences()
	}
	if err := r.fill(ctx, copies); err != nil {
		return nil, err
	}
	found := make([]references.Copy, len(copies))
	for i, c := range copies {
		found[i].Change = c.changes[0].Change
		for _, original := range c.changes[1:] {
			found[i].Originals = append(found[i].Originals, original.Change)
		}
	}
	return found, nil
}

// candidate is a commit that can be an original of another.
type candidate struct {
	hash string
	made int64
}

// originals returns the original of each commit, the oldest first, among their candidates.
func (r *Repo) originals(ctx context.Context, made []*commits.Commit, search func() (map[*commits.Commit][]candidate, error)) (map[*commits.Commit][]string, error) {
	if len(made) == 0 {
		return nil, nil
	}
	candidates, err := search()
	if err != nil {
		return nil, err
	}
	actions := sync.OnceValues(func() (map[string]string, error) { return r.actions(ctx) })
	found := map[*commits.Commit][]string{}
	for _, c := range made {
		for _, t := range candidates[c] {
			older := t.made < c.Made
			if t.made == c.Made { // all within a second
				action, err := actions()
				if err != nil {
					return nil, err
				}
				older = isCopying(action[c.Hash])
			}
			if older {
				found[c] = append(found[c], t.hash)
			}
		}
		if len(c.Named) == 0 {
			continue
		}
		known, err := r.commits(ctx, c.Named...)
		if err != nil {
			return nil, err
		}
		all := distinct.Of(found[c]...)
		for _, hash := range known {
			if hash != "" {
				all.Add(hash)
			}
		}
		found[c] = all.Values()
	}
	return found, nil
}

// candidates returns the other commits with the author, the time, and the subject of each commit, in the
// order in which git created them. It searches all refs, their reflogs, and the commits in extra.
func (r *Repo) candidates(ctx context.Context, made []*commits.Commit, extra []string) (map[*commits.Commit][]candidate, error) {
	oldest := made[0].At
	byAuthor := map[string][]*commits.Commit{}
	for _, c := range made {
		oldest = min(oldest, c.At)
		byAuthor[c.Author] = append(byAuthor[c.Author], c)
	}
	args := []string{"--literal-pathspecs", "log", "--no-merges", "--full-history", "--no-show-signature", "--all", "--reflog",
		"--format=%H%x00%ct%x00%an%x00%ae%x00%at%x00%s", "--since=" + time.Unix(oldest, 0).Add(-slack).UTC().Format(time.RFC3339)}
	args = append(args, slices.DeleteFunc(slices.Clone(extra), func(hash string) bool { return hash == "" })...)
	out, err := r.run(ctx, append(args, "--", r.prefix+merge.ItemsDir, r.prefix+merge.TrashDir)...)
	if err != nil {
		return nil, err
	}
	found := map[*commits.Commit][]candidate{}
	for line := range strings.SplitSeq(out, "\n") {
		hash, rest, _ := strings.Cut(line, "\x00")
		at, author, _ := strings.Cut(rest, "\x00")
		made, err := strconv.ParseInt(at, 10, 64)
		if err != nil || !objects.IsHash(hash) {
			continue
		}
		for _, c := range byAuthor[author] {
			if c.Hash != hash {
				found[c] = append(found[c], candidate{hash, made})
			}
		}
	}
	for _, list := range found {
		slices.SortStableFunc(list, func(a, b candidate) int { return cmp.Compare(a.made, b.made) })
	}
	return found, nil
}

// actions returns, in git's words, the action that created each commit that was checked out here.
func (r *Repo) actions(ctx context.Context) (map[string]string, error) {
	out, err := r.run(ctx, "log", "--walk-reflogs", "--no-show-signature", "--format=%H%x00%gs", "HEAD", "--")
	if _, exited := errors.AsType[*xec.ExitError](err); err != nil && !exited {
		return nil, err
	}
	actions := map[string]string{}
	for line := range strings.SplitSeq(out, "\n") {
		hash, action, _ := strings.Cut(line, "\x00")
		actions[hash] = action // the first action is the last line
	}
	return actions, nil
}

// isCopying reports whether git's action for a commit was to copy it from another.
func isCopying(action string) bool {
	verb, _, _ := strings.Cut(action, ":")
	return strings.HasPrefix(verb, "cherry-pick") || strings.HasSuffix(verb, "(pick)")
}

// maxMerges is how many merges Copied looks at: the latest ones.
const maxMerges = 100

// merged returns the merges whose sides both changed items, the oldest first. A merge copies the change
// of each side to the other.
func (p *Past) merged(ctx context.Context) ([]*copiedCommit, error) {
	merges, _, err := p.merges(ctx, merge.ItemsDir)
	if err != nil {
		return nil, err
	}
	r := p.repo
	var copies []*copiedCommit
	for _, hashes := range merges {
		base, err := r.run(ctx, "merge-base", hashes[1], hashes[2])
		if _, exited := errors.AsType[*xec.ExitError](err); exited {
			continue // histories without a common commit
		}
		if err != nil {
			return nil, err
		}
		for _, side := range [][2]string{{hashes[1], hashes[2]}, {hashes[2], hashes[1]}} {
			c := &copiedCommit{changes: []*readChange{newChange(side[1], hashes[0]), newChange(base, side[0])}}
			files := []string{renumbered.Name}
			for _, change := range c.changes { // an item can have another number there
				names, err := r.run(ctx, "--literal-pathspecs", "diff-tree", "-r", "-z", "--no-renames", "--name-only",
					change.before, change.after, "--", r.prefix+merge.ItemsDir)
				if err != nil {
					return nil, err
				}
				files = append(files, r.storedIn(strings.Split(names, "\x00"))...)
			}
			c.want(unique(files))
			copies = append(copies, c)
		}
	}
	return copies, nil
}

// copiedCommit is a copy and its originals, whose trees are being read.
type copiedCommit struct {
	changes []*readChange // first the copy
}

// readChange is the data read from one commit.
type readChange struct {
	references.Change
	before, after string   // commits
	wanted        []string // names of files to read
}

func newChange(before, after string) *readChange {
	return &readChange{before: before, after: after, Change: references.Change{Before: merge.Tree{}, After: merge.Tree{}}}
}

// copyOf returns a copy with its originals. files are those that each original changed: an
// item can have another number in it.
func (r *Repo) copyOf(c *commits.Commit, originals []string, files map[string][]string) *copiedCommit {
	n := &copiedCommit{}
	wanted := []string{renumbered.Name}
	for _, name := range r.storedIn(c.Paths) {
		if strings.HasPrefix(name, merge.ItemsDir+"/") {
			wanted = append(wanted, name)
		}
	}
	for _, hash := range append([]string{c.Hash}, originals...) {
		n.changes = append(n.changes, newChange(hash+"^", hash))
		wanted = append(wanted, files[hash]...)
	}
	n.want(unique(wanted))
	return n
}

func unique(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// filesOf returns the items that each of the commits changed, with one process.
func (r *Repo) filesOf(ctx context.Context, commits []string) (map[string][]string, error) {
	files := map[string][]string{}
	if len(commits) == 0 {
		return files, nil
	}
	out, err := r.git.Program().Feed(ctx, []byte(strings.Join(unique(commits), "\n")+"\n"), "--literal-pathspecs",
		"diff-tree", "--stdin", "-r", "-z", "--root", "--no-renames", "--name-only", "--", r.prefix+merge.ItemsDir)
	if err != nil {
		return nil, err
	}
	last := ""
	for word := range strings.SplitSeq(string(out), "\x00") {
		if objects.IsHash(word) {
			last = word
			continue
		}
		files[last] = append(files[last], r.storedIn([]string{word})...)
	}
	return files, nil
}

// storedIn returns the names in the store of those paths that are merged.
func (r *Repo) storedIn(paths []string) []string {
	var names []string
	for _, path := range paths {
		if name, ok := strings.CutPrefix(path, r.prefix); ok && IsStored(name) {
			names = append(names, name)
		}
	}
	return names
}

// want asks for files in all trees.
func (c *copiedCommit) want(names []string) {
	for _, change := range c.changes {
		change.wanted = names
	}
}

// wantReferences asks for the items that the changed ones refer to.
func (c *copiedCommit) wantReferences() {
	var names distinct.List[string]
	for _, change := range c.changes[1:] {
		for name, text := range change.After {
			for _, id := range references.Numbers(name, text) {
				for _, directory := range []string{merge.ItemsDir, merge.TrashDir} {
					name := fmt.Sprintf("%s/%d.md", directory, id)
					if _, read := c.changes[0].After[name]; !read {
						names.Add(name)
					}
				}
			}
		}
	}
	c.want(names.Values())
}

// files calls do with each file that is wanted.
func (c *copiedCommit) files(do func(commit, name string, tree merge.Tree)) {
	for _, change := range c.changes {
		for _, name := range change.wanted {
			do(change.before, name, change.Before)
			do(change.after, name, change.After)
		}
	}
}

// fill reads the files that are wanted, with one process. It leaves out a file that a commit does not
// have, or that is too large for an item.
func (r *Repo) fill(ctx context.Context, copies []*copiedCommit) error {
	var names []string
	var put []func(text string)
	for _, c := range copies {
		c.files(func(commit, name string, tree merge.Tree) {
			names = append(names, commit+":"+r.prefix+name)
			put = append(put, func(text string) { tree[name] = text })
		})
	}
	found, err := objects.ReadUpTo(ctx, r.git.Program().Feed, ticfile.MaxSize, names...)
	if err != nil {
		return fmt.Errorf("read copied commits from git: %w", err)
	}
	for i, o := range found {
		if o.Kind == "blob" && o.Size <= ticfile.MaxSize {
			put[i](string(o.Data))
		}
	}
	return nil
}
