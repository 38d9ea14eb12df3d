package remerge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/gitmerge"
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

// births returns the titles of the items of a tree by the time of their creation.
func births(tree merge.Tree) map[string]string {
	titles := map[string]string{}
	for name, text := range tree {
		if v := match.Read(name, text); v != nil && v.Item.Created != "" {
			titles[v.Item.Created] = v.Item.Title
		}
	}
	return titles
}

// revertedItems adds a warning, by the time of creation, for each item that a revert removed because it reverts the
// creation.
func revertedItems(found map[string]item.Warning, past *gitmerge.Merge, now merge.Tree) {
	if past.Kind != gitmerge.OfRevert {
		return
	}
	created, before, left := births(past.Base), births(past.Theirs), births(past.Left)
	for name, text := range past.Ours {
		v := match.Read(name, text)
		if v == nil || v.Trashed {
			continue
		}
		if of := v.Item.Created; has(created, of) && !has(before, of) && !has(left, of) {
			_, taken := now[name]
			found[of] = item.Warning{File: name, Reason: fmt.Sprintf(
				"was the item %q, which a git revert removed; to get it back, run `%s`", v.Item.Title, past.Restoring(name, taken))}
		}
	}
}

// missing returns the warnings about items that are not in a tree, sorted.
func missing(found map[string]item.Warning, now merge.Tree) []item.Warning {
	here := births(now)
	maps.DeleteFunc(found, func(created string, _ item.Warning) bool { return has(here, created) })
	return slices.SortedFunc(maps.Values(found), func(a, b item.Warning) int { return cmp.Compare(a.File, b.File) })
}

func has(births map[string]string, created string) bool {
	_, ok := births[created]
	return ok
}

// lostItems returns the items that ours or theirs has and that are neither in left, as git merged
// them, nor in now: those that no side removed, by title and time of creation.
func lostItems(base, ours, theirs, left, now merge.Tree) [][2]string {
	before, merged, here := births(base), births(left), births(now)
	sides := []map[string]string{births(ours), births(theirs)}
	var found [][2]string
	for i, side := range sides {
		for created, title := range side {
			other := has(sides[1-i], created)
			if !has(merged, created) && !has(here, created) && (other && i == 0 || !other && !has(before, created)) {
				found = append(found, [2]string{title, created})
			}
		}
	}
	slices.SortFunc(found, func(a, b [2]string) int { return cmp.Compare(a[1], b[1]) })
	return found
}
