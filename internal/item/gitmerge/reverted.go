package gitmerge

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// reverting matches what "git revert" writes into a message: the commit, and for a merge the parent that
// it goes back to.
var reverting = lazyregexp.New(`(?m)^This reverts commit ([0-9a-f]{7,64})(?: \([^\n]*\))?(?:, reversing\s+changes made to ([0-9a-f]{7,64})(?: \([^\n]*\))?)?\.$`)

// reverts returns, by the hash of each commit since another one that reverts a commit, the two commits
// that its message names: that one, and the one that it goes back to, "" for the first parent.
func (r *Repo) reverts(ctx context.Context, since string) (map[string][2]string, error) {
	args := []string{"log", "--no-merges", "--no-show-signature", "--fixed-strings", "--grep=This reverts commit ", "--format=%x00%H%x00%b", "HEAD"}
	if since != "" {
		args = append(args, "^"+since)
	}
	out, err := r.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	found := map[string][2]string{}
	hash := ""
	for word := range strings.SplitSeq(out, "\x00") {
		if objects.IsHash(word) {
			hash = word
		} else if m := reverting.Get().FindStringSubmatch(word); m != nil {
			found[hash] = [2]string{m[1], m[2]}
		}
	}
	return found, nil
}

// revertedBy returns the merge by which git made a commit that reverts another; nil if that is not here.
func (r *Repo) revertedBy(ctx context.Context, hashes []string, names [2]string) (*Merge, error) {
	if names[1] == "" {
		names[1] = names[0] + "^"
	}
	known, err := r.commits(ctx, names[:]...)
	if err != nil || known[0] == "" || known[1] == "" {
		return nil, err
	}
	m := &Merge{Kind: OfRevert, Name: "done " + hashes[0], Done: true, repo: r, before: hashes[1]}
	for i, tree := range []*merge.Tree{&m.Left, &m.Ours, &m.Base, &m.Theirs} {
		if *tree, err = r.tree(ctx, []string{hashes[0], hashes[1], known[0], known[1]}[i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// Restoring returns the git command that brings back a file that a revert removed, or that shows its text
// if the name is taken.
func (m *Merge) Restoring(name string, taken bool) string {
	const shown = 12
	if taken {
		return cleantext.Command("git", "show", m.before[:shown]+":"+m.repo.prefix+name)
	}
	return cleantext.Command("git", "checkout", m.before[:shown], "--", m.repo.prefix+name)
}
