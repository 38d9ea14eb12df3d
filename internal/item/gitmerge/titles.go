package gitmerge

import (
	"context"
	"strings"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/git/objects"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// maxRetitled is the maximum number of items whose history one merge reads. Only copies of the same
// item with different titles need it.
const maxRetitled = 100

// Retitled reports whether an item had two titles one after the other, according to the commits of
// the repository that changed the title in the file of one of its numbers. It is for the Options of
// a merge, which calls it in one goroutine. After maxRetitled calls, it reports that the titles are
// those of two items: each call reads the history of a file.
func (r *Repo) Retitled(ctx context.Context) func(created string, ids [2]item.ID, titles [2]string) bool {
	left := maxRetitled
	return func(created string, ids [2]item.ID, titles [2]string) bool {
		if left--; left < 0 {
			return false
		}
		edits, err := r.titleEdits(ctx, created, ids)
		if err != nil {
			return false // without history, two stay two
		}
		next := map[string][]string{} // the titles before and after each title
		for _, e := range edits {
			next[e[0]], next[e[1]] = append(next[e[0]], e[1]), append(next[e[1]], e[0])
		}
		known := distinct.Of(titles[0])
		for i := 0; i < known.Len(); i++ { //nolint:intrange // the list grows
			for _, title := range next[known.Values()[i]] {
				known.Add(title)
			}
		}
		return known.Has(titles[1])
	}
}

// titleEdits returns the titles before and after each change of a file of an item.
func (r *Repo) titleEdits(ctx context.Context, created string, ids [2]item.ID) ([][2]string, error) {
	args := []string{"--literal-pathspecs", "log", "--all", "--reflog", "--no-merges", "--full-history", "--no-renames", "--no-show-signature",
		"--raw", "--no-abbrev", "--diff-filter=M", "--format=", "--"}
	for _, id := range ids {
		args = append(args, r.prefix+merge.ItemsDir+"/"+id.String()+".md")
	}
	out, err := r.run(ctx, args...)
	if err != nil {
		return nil, err
	}
	found := blobs{}
	var pairs [][2]string
	for line := range strings.SplitSeq(out, "\n") {
		const before, after = 2, 3 // of ":100644 100644 HASH HASH M"
		if fields := strings.Fields(line); len(fields) > after && objects.IsHash(fields[before]) && objects.IsHash(fields[after]) {
			pairs = append(pairs, [2]string{fields[before], fields[after]})
			found[fields[before]], found[fields[after]] = fields[before], fields[after]
		}
	}
	texts, err := r.read(ctx, found)
	if err != nil {
		return nil, err
	}
	var edits [][2]string
	for _, pair := range pairs {
		a, aErr := ticfile.Read(texts[pair[0]])
		b, bErr := ticfile.Read(texts[pair[1]])
		if aErr == nil && bErr == nil && a.Title != b.Title && a.Created == created && b.Created == created {
			edits = append(edits, [2]string{a.Title, b.Title})
		}
	}
	return edits, nil
}
