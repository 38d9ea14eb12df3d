package merge

import (
	"slices"

	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/item/merge/match"
)

// settle decides which items are in the result, and where.
func (m *merger) settle() {
	for _, e := range m.sorted {
		e.state = m.stateOf(e)
	}
}

func stateOf(v *match.Version) state {
	switch {
	case v == nil:
		return absent
	case v.Trashed:
		return trashed
	}
	return live
}

func (m *merger) stateOf(e *entry) state {
	base, ours, theirs := stateOf(e.Base), stateOf(e.Ours), stateOf(e.Theirs)
	switch {
	case ours == theirs:
		return ours
	case base == absent && (ours == absent || theirs == absent):
		return max(ours, theirs) // it came on one side
	case base == absent: // in the trash on one side only
		kept, deleted := e.Ours, e.Theirs
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
		return m.unlessChanged(e, e.Ours, theirs)
	case theirs == live:
		return m.unlessChanged(e, e.Theirs, ours)
	}
	return trashed
}

// unlessChanged returns the state that the other side gave to an item of the base, unless the
// version that is left has changed.
func (m *merger) unlessChanged(e *entry, left *match.Version, other state) state {
	if m.changed(e.Base, left) {
		return live
	}
	return other
}

// keptChanged reports whether an item was deleted on one side and changed on the other.
func (e *entry) keptChanged() bool {
	ours, theirs := stateOf(e.Ours), stateOf(e.Theirs)
	return e.state == live && ours != theirs && (ours == live || theirs == live) && stateOf(e.Base) == live
}

// deletedBeside reports whether the side other than that of a version deleted an item of the base.
func (m *merger) deletedBeside(v *match.Version, k match.Key) bool {
	e := m.entries[k]
	return e != nil && stateOf(e.Base) == live && stateOf(e.Versions()[3-v.Side]) != live
}

// changed reports whether somebody changed an item since base: any field of it, but
// the time of its update, and but for relations to what was deleted.
func (m *merger) changed(base, v *match.Version) bool {
	if fields.Edited(base.Item, v.Item) {
		return true
	}
	before, after := m.References(base), m.References(v)
	if slices.ContainsFunc(after, func(k match.Key) bool { return !slices.Contains(before, k) && !m.deletedBeside(v, k) }) {
		return true
	}
	return slices.ContainsFunc(before, func(k match.Key) bool {
		if slices.Contains(after, k) {
			return false
		}
		e := m.entries[k]
		return e != nil && stateOf(e.Versions()[v.Side]) == live
	})
}
