package remerge

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// isUnmerged reports whether a file has the marks that git leaves in what it could not
// merge.
func (m *merging) isUnmerged(name string) bool {
	_, _, marked := ticfile.Versions(m.tree[name])
	return marked
}

// isMarked reports whether a text has the marks of a conflict and cannot be read for them.
func isMarked(name, text string) bool {
	_, _, marked := ticfile.Versions(text)
	return marked && !readable(name, text)
}

// readable reports whether a file can be used.
func readable(name, text string) bool {
	if name == merge.ConfigName {
		_, err := ticfile.ParseConfig(text)
		return err == nil
	}
	if strings.HasPrefix(name, merge.LinksDir+"/") {
		_, _, marked := ticfile.Versions(text)
		return !marked
	}
	_, err := ticfile.Read(text)
	return err == nil
}

// maxMarked is the maximum number of files with marks whose merge is looked for at once: each takes
// several runs of git. The next repair finds the others.
const maxMarked = 100

// marked merges again what git committed with the marks of a conflict.
func (m *merging) marked(repo *gitmerge.Repo) error {
	left := maxMarked
	for _, name := range slices.Sorted(maps.Keys(m.tree)) {
		text, here := m.tree[name]
		if !here || !isMarked(name, text) {
			continue
		}
		if left--; left < 0 {
			return nil
		}
		past, err := repo.Marked(m.ctx, name, text)
		if err != nil {
			return err
		}
		if past == nil {
			continue // the marks are all that is known
		}
		if err := m.again(past); err != nil {
			return err
		}
		if m.result.Merge == nil {
			m.result.Merge = past
		}
	}
	return nil
}

// vanished brings items back that git lost in a merge, and names those that a revert removed. A merge
// loses items without a conflict when git takes the move of files to the trash, or from there, for the
// move of a directory.
func (m *merging) vanished(repo *gitmerge.Repo) error {
	if _, going := repo.Rewritten(); going {
		return nil // the commits that are still to come build on it
	}
	since, err := followed(m.files)
	if err != nil {
		return err
	}
	all, err := repo.Past(m.ctx, since)
	if err != nil {
		return err
	}
	reverted := map[string]item.Warning{}
	err = all.Vanished(m.ctx, func(past *gitmerge.Merge) error {
		revertedItems(reverted, past, m.tree)
		lost := lostItems(past.Base, past.Ours, past.Theirs, past.Left, m.tree)
		if len(lost) == 0 {
			return nil
		}
		if err := m.again(past); err != nil {
			return err
		}
		if m.result.Merge == nil {
			m.result.Merge = past
		}
		for _, it := range lost {
			for _, name := range slices.Sorted(maps.Keys(m.tree)) {
				if createdIn(m.tree[name]) == it[1] {
					m.done(name, "was lost in a merge that git completed without a conflict; it is back")
				}
			}
		}
		return nil
	})
	for _, removed := range missing(reverted, m.tree) {
		m.done(removed.File, "stays removed; it %s", removed.Reason)
	}
	return err
}

// again merges what git has merged in a commit, and on top of it what was changed since.
func (m *merging) again(past *gitmerge.Merge) error {
	result, options, err := m.stores(past)
	if err != nil {
		return err
	}
	left, now := maps.Clone(past.Left), maps.Clone(m.tree)
	for name, text := range past.Left {
		if !isMarked(name, text) || now[name] != text {
			continue
		}
		delete(left, name)
		delete(now, name)
		if merged, ok := result.Tree[name]; ok {
			left[name], now[name] = merged, merged
		}
	}
	options.Rank = inTree(now)
	since, err := merge.Stores(left, result.Tree, now, options)
	if err != nil {
		return configError(err)
	}
	since.Renumbered = append(result.Renumbered, since.Renumbered...)
	since.Reports = append(result.Reports, since.Reports...)
	return m.store(since)
}

// leftovers merges files that were left, or committed, with the marks of a merge that git no
// longer remembers. A file that can be read is left alone: its marks are ordinary text.
func (m *merging) leftovers() error {
	base, ours, theirs := maps.Clone(m.tree), maps.Clone(m.tree), maps.Clone(m.tree)
	found := false
	for name, text := range m.tree {
		a, b, marked := ticfile.Versions(text)
		if !marked || readable(name, text) || !readable(name, a) || !readable(name, b) {
			continue
		}
		found = true
		for _, tree := range []merge.Tree{base, ours, theirs} {
			delete(tree, name)
		}
		for _, side := range []struct {
			tree merge.Tree
			text string
		}{{ours, a}, {theirs, b}} {
			home := m.home(name, side.text)
			if home != name {
				deleted := merge.TrashDir + strings.TrimPrefix(home, merge.ItemsDir)
				delete(base, home)
				delete(base, deleted)
				delete(side.tree, deleted)
			}
			side.tree[home] = side.text
		}
	}
	if !found {
		return nil
	}
	return m.mergeTrees(base, ours, theirs)
}

// home returns the file that a version of a marked file is a version of. Where git takes a
// new file for a renamed one, that is the file of another item.
func (m *merging) home(name, text string) string {
	it, readErr := ticfile.Read(text)
	id, err := itemdir.Number(strings.TrimPrefix(name, merge.ItemsDir+"/"))
	if readErr != nil || err != nil || it.ID == id {
		return name
	}
	if other := nameOf(m.tree, text); other != "" {
		_, file, _ := strings.Cut(other, "/")
		return merge.ItemsDir + "/" + file
	}
	return name
}

// buried brings items back that git left in the trash although one side of a merge changed
// them.
func (m *merging) buried(repo *gitmerge.Repo) error {
	if _, going := repo.Rewritten(); going {
		return nil
	}
	since, err := followed(m.files)
	if err != nil {
		return err
	}
	past, err := repo.Past(m.ctx, since)
	if err != nil {
		return err
	}
	ids, last, err := buried(m.ctx, past, func(name string) string { return m.tree[name] })
	if err != nil || len(ids) == 0 {
		return err
	}
	if m.result.Merge == nil {
		m.result.Merge = last
	}
	for _, id := range ids {
		restored, err := m.files.Restore(id)
		if err != nil {
			return err
		}
		if restored {
			m.done(merge.ItemsDir+"/"+itemdir.FileName(id), "was deleted on one side and changed on the other; copse keeps it")
		}
	}
	m.tree, err = m.files.Tree()
	return err
}

// buried returns the items that git left in the trash of a store, sorted, and the last merge
// that left one. read returns the text of a file, "" without one.
func buried(ctx context.Context, all *gitmerge.Past, read func(name string) string) (ids []item.ID, last *gitmerge.Merge, err error) {
	merges, err := all.Buried(ctx)
	if err != nil {
		return nil, nil, err
	}
	for _, past := range merges {
		for _, b := range buriedItems(past.Base, past.Ours, past.Theirs, past.Left) {
			file := itemdir.FileName(b.ID)
			text := read(merge.TrashDir + "/" + file)
			// Somebody who deletes the item afterward has seen it.
			if read(merge.ItemsDir+"/"+file) == "" && createdIn(text) == b.Created && deletedIn(text) == deletedIn(past.Left[merge.TrashDir+"/"+file]) {
				ids, last = append(ids, b.ID), past
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), last, nil
}

// deletedIn returns when an item was deleted, as a text says it.
func deletedIn(text string) string {
	file, err := ticfile.Parse(text)
	if err != nil {
		return ""
	}
	return file.Deleted()
}
