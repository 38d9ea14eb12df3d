package gitmerge

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/item/gitmerge/commits"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/xec"
)

// Marked returns the merge in which git committed a file with this text, which has conflict
// markers; nil if no commit of HEAD did. Git does that without a stop if it mistakes a new file,
// which is the same on both sides, for a renamed one.
func (r *Repo) Marked(ctx context.Context, name, text string) (*Merge, error) {
	path := r.prefix + name
	blob, err := r.run(ctx, "rev-parse", "--verify", "--quiet", "HEAD:"+path)
	if _, exited := errors.AsType[*xec.ExitError](err); exited {
		return nil, nil // it is in no commit
	}
	if err != nil || !objects.IsHash(blob) {
		return nil, err
	}
	texts, err := r.read(ctx, blobs{name: blob})
	if err != nil || texts[name] != text {
		return nil, err // somebody has edited it since
	}
	out, err := r.run(ctx, "--literal-pathspecs", "log", "--full-history", "-m", "--no-patch", "--no-show-signature", "--format=%H %P",
		"--find-object="+blob, "HEAD", "--", path)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(out, "\n")
	hashes := strings.Fields(lines[len(lines)-1]) // the oldest brought it
	switch len(hashes) {
	case 3:
		return r.merged(ctx, hashes)
	case 2:
		return r.copiedAs(ctx, hashes[0], hashes[1])
	}
	return nil, nil
}

// copiedAs returns the merge by which git made a commit from another one; nil if that is
// unknown.
func (r *Repo) copiedAs(ctx context.Context, hash, parent string) (*Merge, error) {
	// Git can leave of the commit nothing but the loss of a file in the trash.
	log, err := r.log(ctx, hash, parent, maxCommits, []string{""}, "--no-merges")
	made := log.Plain(strings.TrimSuffix(r.prefix, "/"))
	if err != nil || len(made) != 1 {
		return nil, err
	}
	extra, err := r.commits(ctx, "FETCH_HEAD", "ORIG_HEAD")
	if err != nil {
		return nil, err
	}
	originals, err := r.originals(ctx, made, func() (map[*commits.Commit][]candidate, error) { return r.candidates(ctx, made, extra) })
	if err != nil || len(originals[made[0]]) == 0 {
		return nil, err
	}
	original := originals[made[0]][0]
	if before, err := r.commit(ctx, original+"^"); err != nil || before == parent {
		return nil, err // an amended commit, not a copied one
	}
	m := &Merge{Kind: OfCherryPick, Name: "done " + hash, Done: true, repo: r}
	if m.Left, err = r.tree(ctx, hash); err != nil {
		return nil, err
	}
	return m, m.readTrees(ctx, parent, original)
}

// Buried returns the merges that changed files in the trash, the oldest first, and after them the
// commits that git copied as a rebase and a cherry-pick do. Git mistakes a deletion for a renaming, and
// moves the other side's change of the item to the trash. The trees have only the files of such items.
func (p *Past) Buried(ctx context.Context) ([]*Merge, error) {
	merges, err := p.buriedByMerges(ctx)
	if err != nil {
		return nil, err
	}
	copies, err := p.buriedByCopies(ctx)
	return append(merges, copies...), err
}

// buriedByCopies returns the copied commits of Buried.
func (p *Past) buriedByCopies(ctx context.Context) ([]*Merge, error) {
	r := p.repo
	made, originals, err := p.made(ctx, merge.TrashDir)
	if err != nil {
		return nil, err
	}
	var found []*Merge
	var copies []*copiedCommit
	for _, c := range slices.Backward(made) {
		for _, original := range originals[c] {
			copied, from := newChange(c.Hash+"^", c.Hash), newChange(original+"^", original)
			trees := &copiedCommit{changes: []*readChange{copied, from}}
			trees.want(withItems(r.storedIn(c.Paths)))
			copies = append(copies, trees)
			found = append(found, &Merge{
				Kind: OfCherryPick, Name: "done " + c.Hash, Done: true, repo: r,
				Base: from.Before, Ours: copied.Before, Theirs: from.After, Left: copied.After,
			})
		}
	}
	return found, r.fill(ctx, copies)
}

// withItems returns the names of files in the trash, and those that the items have when
// they are not deleted.
func withItems(names []string) []string {
	var all []string
	for _, name := range names {
		if file, ok := strings.CutPrefix(name, merge.TrashDir+"/"); ok {
			all = append(all, name, merge.ItemsDir+"/"+file)
		}
	}
	return unique(all)
}

// buriedByMerges returns the merges of Buried.
func (p *Past) buriedByMerges(ctx context.Context) ([]*Merge, error) {
	merges, paths, err := p.merges(ctx, merge.TrashDir)
	if err != nil {
		return nil, err
	}
	var found []*Merge
	for _, hashes := range merges {
		var names []string
		for _, path := range paths[hashes[0]] {
			names = append(names, strings.TrimPrefix(path, p.repo.prefix))
		}
		if len(names) == 0 {
			continue
		}
		m, err := p.repo.mergeOf(ctx, hashes, withItems(names))
		if err != nil {
			return nil, err
		}
		found = append(found, m)
	}
	return found, nil
}

// mergeOf returns the merge that a commit is, with some of the files.
func (r *Repo) mergeOf(ctx context.Context, hashes, names []string) (*Merge, error) {
	base, err := r.run(ctx, "merge-base", hashes[1], hashes[2])
	if _, exited := errors.AsType[*xec.ExitError](err); err != nil && !exited {
		return nil, err
	}
	ours, theirs := newChange(hashes[1], hashes[0]), newChange(hashes[2], base)
	trees := &copiedCommit{changes: []*readChange{ours, theirs}}
	trees.want(names)
	if err := r.fill(ctx, []*copiedCommit{trees}); err != nil {
		return nil, err
	}
	return &Merge{
		Kind: OfMerge, Name: "done " + hashes[0], Done: true, repo: r,
		Base: theirs.After, Ours: ours.Before, Theirs: theirs.Before, Left: ours.After,
	}, nil
}

// Vanished calls do with the merges, the oldest first, after which a file of an item is missing or has
// another item, and no other file has the item: merges by git, commits that git copied, and reverts. It
// omits merges and copies that a person has committed after a stop.
func (p *Past) Vanished(ctx context.Context, do func(*Merge) error) error {
	r := p.repo
	log, err := p.log()
	if err != nil {
		return err
	}
	var hashes []string
	changes := slices.DeleteFunc(slices.Clone(log.Changes), func(c *commits.Change) bool { return len(c.Before) == 0 })
	slices.Reverse(changes)
	for _, c := range changes {
		hashes = append(append(hashes, c.Before...), c.After...)
	}
	created, err := r.births().Created(ctx, unique(hashes))
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c *commits.Change) bool { return !c.Loses(created) })
	if len(changes) == 0 {
		return nil
	}
	actions, err := r.actions(ctx)
	if err != nil {
		return err
	}
	reverts, err := r.reverts(ctx, p.since)
	if err != nil {
		return err
	}
	last := ""
	for _, c := range changes {
		of, reverted := reverts[c.Hash]
		if c.Hash == last || !reverted && isByHand(actions[c.Hash]) {
			continue
		}
		last = c.Hash
		var m *Merge
		switch {
		case reverted:
			m, err = r.revertedBy(ctx, c.Hashes(), of)
		case len(c.Parents) == 2:
			m, err = r.merged(ctx, c.Hashes())
		case len(c.Parents) == 1:
			m, err = r.copiedAs(ctx, c.Hash, c.Hashes()[1])
		}
		if err != nil {
			return err
		}
		if m == nil {
			continue
		}
		if err := do(m); err != nil { // one at a time: each has all files of the store
			return err
		}
	}
	return nil
}

// isByHand reports whether git's reflog shows that a person made a commit, including one in a merge
// or a rebase that stopped.
func isByHand(action string) bool {
	verb, _, _ := strings.Cut(action, ":")
	return strings.HasPrefix(verb, "commit") || strings.HasSuffix(verb, ")") && !isCopying(action)
}
