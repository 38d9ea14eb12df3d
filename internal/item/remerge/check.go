package remerge

import (
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/merge"
)

// Reader reads a store.
type Reader interface {
	// Tree returns all files that merge.
	Tree() (merge.Tree, error)
	// Text returns the text of a file; "" if it cannot be read.
	Text(name string) string
	// Note returns what was noted under a name in the store's private directory; "" without
	// such a note.
	Note(name string) (string, error)
}

// Notes of the store.
const (
	// mergedNote is the name of the merge that was finished last, so that it is not done
	// again over what was changed since.
	mergedNote = "merged"
	// RewrittenNote is what a rebase that stopped here rewrites, until it is done: later
	// commits that git takes over without a stop can refer to old numbers.
	RewrittenNote = "rewritten"
	// followedNote is the last commit whose references are known to be right.
	followedNote = "followed"
)

// followed returns the last commit whose references are known to be right; "" if none is.
func followed(files Reader) (string, error) {
	text, err := files.Note(followedNote)
	return strings.TrimSpace(text), err
}

// Check returns a warning for each item that git lost, buried in the trash, or made refer to
// other items, in merges and copies that it made without a stop. While git rewrites commits
// there is none, because those that are still to come count as well.
func Check(ctx context.Context, files Reader, repo *gitmerge.Repo) ([]item.Warning, error) {
	if repo == nil {
		return nil, nil
	}
	if _, going := repo.Rewritten(); going {
		return nil, nil
	}
	since, err := followed(files)
	if err != nil {
		return nil, err
	}
	past, err := repo.Past(ctx, since)
	if err != nil {
		return nil, err
	}
	var found []item.Warning
	for _, check := range []func(context.Context, Reader, *gitmerge.Past) ([]item.Warning, error){checkVanished, checkBuried, checkCopied} {
		more, err := check(ctx, files, past)
		if err != nil {
			return nil, err
		}
		found = append(found, more...)
	}
	return found, nil
}

// checkVanished returns a warning for each item that git lost in a merge, or removed in a revert.
func checkVanished(ctx context.Context, files Reader, past *gitmerge.Past) ([]item.Warning, error) {
	var tree merge.Tree
	var found []item.Warning
	reverted := map[string]item.Warning{}
	err := past.Vanished(ctx, func(of *gitmerge.Merge) (err error) {
		if tree == nil {
			if tree, err = files.Tree(); err != nil {
				return err
			}
		}
		revertedItems(reverted, of, tree)
		for _, it := range lostItems(of.Base, of.Ours, of.Theirs, of.Left, tree) {
			found = append(found, item.Warning{
				File: merge.ItemsDir, Reason: fmt.Sprintf("lost %q in a merge that git completed without a conflict; run `copse item doctor --repair` to restore it", it[0]),
			})
		}
		return nil
	})
	return append(missing(reverted, tree), found...), err
}

// checkBuried returns a warning for each item that git left in the trash although one side
// of a merge changed it.
func checkBuried(ctx context.Context, files Reader, past *gitmerge.Past) ([]item.Warning, error) {
	ids, _, err := buried(ctx, past, files.Text)
	var found []item.Warning
	for _, id := range ids {
		found = append(found, item.Warning{
			File: merge.TrashDir + "/" + itemdir.FileName(id), Reason: "was deleted on one side of a merge and changed on the other; run `copse item doctor --repair` to restore it",
		})
	}
	return found, err
}

// checkCopied returns a warning for each item that refers to items other than where git
// copied its commit from.
func checkCopied(ctx context.Context, files Reader, past *gitmerge.Past) ([]item.Warning, error) {
	copies, err := past.Copied(ctx)
	if len(copies) == 0 || err != nil {
		return nil, err
	}
	tree, err := files.Tree()
	if err != nil {
		return nil, err
	}
	_, reports, err := followCopied(copies, tree)
	var found []item.Warning
	for _, r := range reports {
		found = append(found, item.Warning{
			File: r.File, Reason: "came with a merge, cherry-pick, or rebase, and refers to items by numbers that belong to other items here; run `copse item doctor --repair`",
		})
	}
	return found, err
}
