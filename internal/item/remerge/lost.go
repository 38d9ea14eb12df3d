package remerge

import (
	"cmp"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/item/merge/match"
)

// related reports whether a version of an item refers to an item that base did not refer to.
func related(base, v item.Item) bool {
	return v.Parent != 0 && v.Parent != base.Parent ||
		slices.ContainsFunc(v.DependsOn, func(id item.ID) bool { return !slices.Contains(base.DependsOn, id) })
}

// buriedItems returns the items that left, as git merged ours and theirs, has in its trash
// although one side only deleted them and the other changed them, sorted.
func buriedItems(base, ours, theirs, left merge.Tree) []merge.Birth {
	var found []merge.Birth
	for name, text := range left {
		v := match.Read(name, text)
		if v == nil || !v.Trashed {
			continue
		}
		live := merge.ItemsDir + "/" + v.ID.String() + match.Extension
		for _, side := range [][2]merge.Tree{{ours, theirs}, {theirs, ours}} {
			before, changed := match.Read(live, base[live]), match.Read(live, side[1][live])
			if _, kept := side[0][live]; kept || before == nil || changed == nil || match.Read(name, side[0][name]) == nil {
				continue
			}
			if before.Item.Created == v.Item.Created && changed.Item.Created == v.Item.Created &&
				(fields.Edited(before.Item, changed.Item) || related(before.Item, changed.Item)) {
				found = append(found, merge.Birth{ID: v.ID, Created: v.Item.Created})
			}
		}
	}
	slices.SortFunc(found, func(a, b merge.Birth) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// lostItems returns the items that ours or theirs has and that are neither in left, as git merged
// them, nor in now: those that no side removed, by title and time of creation.
func lostItems(base, ours, theirs, left, now merge.Tree) [][2]string {
	births := func(tree merge.Tree) map[string]string {
		titles := map[string]string{}
		for name, text := range tree {
			if v := match.Read(name, text); v != nil && v.Item.Created != "" {
				titles[v.Item.Created] = v.Item.Title
			}
		}
		return titles
	}
	before, merged, here := births(base), births(left), births(now)
	sides := []map[string]string{births(ours), births(theirs)}
	var found [][2]string
	for i, side := range sides {
		for created, title := range side {
			_, known := before[created]
			_, other := sides[1-i][created]
			_, kept := merged[created]
			_, back := here[created]
			if !kept && !back && (other && i == 0 || !other && !known) {
				found = append(found, [2]string{title, created})
			}
		}
	}
	slices.SortFunc(found, func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) })
	return found
}
