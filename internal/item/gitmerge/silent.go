package gitmerge

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/objects"
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
	made, err := r.madeSince(ctx, hash, parent, "")
	if err != nil || len(made) != 1 {
		return nil, err
	}
	extra, err := r.commits(ctx, "FETCH_HEAD", "ORIG_HEAD")
	if err != nil {
		return nil, err
	}
	originals, err := r.originals(ctx, made, extra)
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

// Buried returns the merges since a commit that changed files in the trash, the oldest first, and
// after them the commits that git copied as a rebase and a cherry-pick do. Git mistakes a deletion
// for a renaming, and moves the other side's change of the item to the trash. The trees have only
// the files of such items.
func (r *Repo) Buried(ctx context.Context, since string) ([]*Merge, error) {
	known, err := r.commits(ctx, "HEAD", since, "FETCH_HEAD", "ORIG_HEAD")
	if err != nil || known[0] == "" || known[0] == known[1] {
		return nil, err
	}
	merges, err := r.buriedByMerges(ctx, known[1])
	if err != nil {
		return nil, err
	}
	copies, err := r.buriedByCopies(ctx, known[1], known[2:])
	return append(merges, copies...), err
}

// buriedByCopies returns the copied commits of Buried.
func (r *Repo) buriedByCopies(ctx context.Context, since string, extra []string) ([]*Merge, error) {
	made, err := r.madeSince(ctx, "HEAD", since, merge.TrashDir)
	if err != nil {
		return nil, err
	}
	originals, err := r.originals(ctx, made, extra)
	if err != nil {
		return nil, err
	}
	var found []*Merge
	var copies []*copiedCommit
	for _, c := range slices.Backward(made) {
		for _, original := range originals[c] {
			copied, from := newChange(c.hash+"^", c.hash), newChange(original+"^", original)
			trees := &copiedCommit{changes: []*readChange{copied, from}}
			trees.want(withItems(c.files))
			copies = append(copies, trees)
			found = append(found, &Merge{
				Kind: OfCherryPick, Name: "done " + c.hash, Done: true, repo: r,
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
func (r *Repo) buriedByMerges(ctx context.Context, since string) ([]*Merge, error) {
	args := []string{"--literal-pathspecs", "log", "-z", "--merges", "-c", "--full-history", "--no-renames", "--no-show-signature", "--name-only",
		"--format=%x00%H %P%x00", "--max-count=" + strconv.Itoa(maxMerges), "--reverse", "HEAD"}
	if since != "" {
		args = append(args, "^"+since)
	}
	out, err := r.run(ctx, append(args, "--", r.prefix+merge.TrashDir)...)
	if err != nil {
		return nil, err
	}
	names := map[string][]string{} // by merge
	var merges []string
	for word := range strings.SplitSeq(out, "\x00") {
		word = strings.TrimPrefix(word, "\n")
		file, inTrash := strings.CutPrefix(word, r.prefix+merge.TrashDir+"/")
		switch hashes := strings.Fields(word); {
		case inTrash && len(merges) > 0:
			last := merges[len(merges)-1]
			names[last] = append(names[last], merge.TrashDir+"/"+file, merge.ItemsDir+"/"+file)
		case len(hashes) == 3 && objects.IsHash(hashes[0]):
			merges = append(merges, word)
		}
	}
	var found []*Merge
	for _, hashes := range merges {
		if len(names[hashes]) == 0 {
			continue
		}
		m, err := r.mergeOf(ctx, strings.Fields(hashes), names[hashes])
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

// Vanished calls do with the merges since a commit, the oldest first, after which a file of an item is
// missing or has another item, and no other file has the item: merges by git, commits that git
// copied, and reverts. It omits merges and copies that a person has committed after a stop.
func (r *Repo) Vanished(ctx context.Context, since string, do func(*Merge) error) error {
	known, err := r.commits(ctx, "HEAD", since)
	if err != nil || known[0] == "" || known[0] == known[1] {
		return err
	}
	args := []string{"--literal-pathspecs", "log", "-z", "-m", "--raw", "--no-abbrev", "--full-history", "--no-renames", "--no-show-signature",
		"--format=%x00%H %P%x00", "--max-count=" + strconv.Itoa(maxCommits), "--reverse", "HEAD"}
	if known[1] != "" {
		args = append(args, "^"+known[1])
	}
	out, err := r.run(ctx, append(args, "--", r.prefix+merge.ItemsDir, r.prefix+merge.TrashDir)...)
	if err != nil {
		return err
	}
	changes := parseChanges(out)
	var hashes []string
	for _, c := range changes {
		hashes = append(append(hashes, c.before...), c.after...)
	}
	created, err := r.births().Created(ctx, unique(hashes))
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c *rawChange) bool { return !c.loses(created) })
	if len(changes) == 0 {
		return nil
	}
	actions, err := r.actions(ctx)
	if err != nil {
		return err
	}
	reverts, err := r.reverts(ctx, known[1])
	if err != nil {
		return err
	}
	last := ""
	for _, c := range changes {
		of, reverted := reverts[c.commit[0]]
		if c.commit[0] == last || !reverted && isByHand(actions[c.commit[0]]) {
			continue
		}
		last = c.commit[0]
		var m *Merge
		switch {
		case reverted:
			m, err = r.revertedBy(ctx, c.commit, of)
		case len(c.commit) == 3:
			m, err = r.merged(ctx, c.commit)
		case len(c.commit) == 2:
			m, err = r.copiedAs(ctx, c.commit[0], c.commit[1])
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

// rawChange is what a commit did to the files of items, beside one of its parents.
type rawChange struct {
	commit        []string // its hash and those of its parents
	before, after []string // objects of files that are gone, replaced, or new
	replaced      map[string]string
}

// parseChanges returns the changes that removed or replaced a file.
func parseChanges(out string) []*rawChange {
	var list []*rawChange
	for word := range strings.SplitSeq(out, "\x00") {
		word = strings.TrimPrefix(word, "\n")
		fields := strings.Fields(word)
		switch {
		case len(fields) > 0 && objects.IsHash(fields[0]):
			list = append(list, &rawChange{commit: fields, replaced: map[string]string{}})
		case len(fields) == 5 && strings.HasPrefix(word, ":") && len(list) > 0: // ":100644 100644 HASH HASH M"
			c := list[len(list)-1]
			if fields[4] != "A" {
				c.before = append(c.before, fields[2])
			}
			if fields[4] != "D" {
				c.after = append(c.after, fields[3])
				c.replaced[fields[2]] = fields[3]
			}
		}
	}
	return slices.DeleteFunc(list, func(c *rawChange) bool { return len(c.before) == 0 })
}

// loses reports whether an item is in none of the files afterward. created has the items of the
// files, by hash. A text that replaces an item and is none is not a loss: it can have the marks of a
// conflict.
func (c *rawChange) loses(created map[string]string) bool {
	left := map[string]bool{"": true}
	for _, hash := range c.after {
		left[created[hash]] = true
	}
	return slices.ContainsFunc(c.before, func(hash string) bool {
		by, replaced := c.replaced[hash]
		if _, isItem := created[by]; replaced && !isItem {
			return false
		}
		return !left[created[hash]]
	})
}
