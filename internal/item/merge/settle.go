package merge

import (
	"cmp"
	"slices"

	"github.com/copse-dev/copse/internal/item"
)

// settle decides which items are in the result, and where.
func (m *merger) settle() {
	for _, e := range m.sorted {
		e.state = m.stateOf(e)
	}
}

func stateOf(v *version) state {
	switch {
	case v == nil:
		return absent
	case v.trashed:
		return trashed
	}
	return live
}

func (m *merger) stateOf(e *entry) state {
	base, ours, theirs := stateOf(e.base), stateOf(e.ours), stateOf(e.theirs)
	switch {
	case ours == theirs:
		return ours
	case base == absent && (ours == absent || theirs == absent):
		return max(ours, theirs) // it came on one side
	case base == absent: // in the trash on one side only
		kept, deleted := e.ours, e.theirs
		if ours == trashed {
			kept, deleted = deleted, kept
		}
		if m.changed(deleted, kept) {
			return live
		}
		return trashed
	case base == trashed:
		if ours == live || theirs == live {
			return live
		}
		return absent // removed for good on one side
	case ours == live:
		return m.unlessChanged(e, e.ours, theirs)
	case theirs == live:
		return m.unlessChanged(e, e.theirs, ours)
	}
	return trashed
}

// unlessChanged is the state that the other side gave to an item of the base, unless
// the version that is left has changed.
func (m *merger) unlessChanged(e *entry, left *version, other state) state {
	if m.changed(e.base, left) {
		return live
	}
	return other
}

// keptChanged reports whether an item was deleted on one side and changed on the other.
func (e *entry) keptChanged() bool {
	ours, theirs := stateOf(e.ours), stateOf(e.theirs)
	return e.state == live && ours != theirs && (ours == live || theirs == live) && stateOf(e.base) == live
}

// changed reports whether somebody changed an item since base: any field of it, but
// the time of its update, and but for relations to what was deleted.
func (m *merger) changed(base, v *version) bool {
	if edited(base.it, v.it) {
		return true
	}
	before, after := m.references(base), m.references(v)
	if slices.ContainsFunc(after, func(k key) bool { return !slices.Contains(before, k) }) {
		return true
	}
	return slices.ContainsFunc(before, func(k key) bool {
		if slices.Contains(after, k) {
			return false
		}
		e := m.entries[k]
		return e != nil && stateOf(e.versions()[v.side]) == live
	})
}

// edited reports whether two versions of an item differ in more than their relations and
// the time of the update.
func edited(a, b item.Item) bool {
	return a.Title != b.Title || a.Type != b.Type || a.Status != b.Status || a.Iteration != b.Iteration ||
		a.Priority != b.Priority || a.Assignee != b.Assignee || a.Description != b.Description ||
		!slices.Equal(a.Labels, b.Labels) || !slices.Equal(a.Comments, b.Comments)
}

// related reports whether a version of an item refers to an item that base did not refer to.
func related(base, v item.Item) bool {
	return v.Parent != 0 && v.Parent != base.Parent ||
		slices.ContainsFunc(v.DependsOn, func(id item.ID) bool { return !slices.Contains(base.DependsOn, id) })
}

// Buried returns the items that left, as git merged ours and theirs, has in its trash
// although one side only deleted them and the other changed them, sorted.
func Buried(base, ours, theirs, left Tree) []Birth {
	var found []Birth
	for name, text := range left {
		v := readVersion(name, text)
		if v == nil || !v.trashed {
			continue
		}
		live := ItemsFolder + "/" + v.id.String() + extension
		for _, side := range [][2]Tree{{ours, theirs}, {theirs, ours}} {
			before, changed := readVersion(live, base[live]), readVersion(live, side[1][live])
			if _, kept := side[0][live]; kept || before == nil || changed == nil || readVersion(name, side[0][name]) == nil {
				continue
			}
			if before.it.Created == v.it.Created && changed.it.Created == v.it.Created &&
				(edited(before.it, changed.it) || related(before.it, changed.it)) {
				found = append(found, Birth{v.id, v.it.Created})
			}
		}
	}
	slices.SortFunc(found, func(a, b Birth) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

// Lost returns the items that ours or theirs has and that are neither in left, as git merged
// them, nor in now: those that no side removed, by title and time of creation.
func Lost(base, ours, theirs, left, now Tree) [][2]string {
	births := func(tree Tree) map[string]string {
		titles := map[string]string{}
		for name, text := range tree {
			if v := readVersion(name, text); v != nil && v.it.Created != "" {
				titles[v.it.Created] = v.it.Title
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

// references are the items that an item refers to.
func (m *merger) references(v *version) []key {
	var keys []key
	for _, id := range append([]item.ID{v.it.Parent}, v.it.DependsOn...) {
		if id != 0 {
			keys = append(keys, m.meaning(v, id))
		}
	}
	return keys
}

// meaning is the item that a number means in the tree of a version. One that is not
// there was known to the base if the change came from elsewhere.
func (m *merger) meaning(v *version, id item.ID) key {
	for _, s := range []*side{m.sides()[v.side], &m.base} {
		if target := s.numbers[id]; target != nil {
			return target.key
		}
	}
	return dangling(id)
}
