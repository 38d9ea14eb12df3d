package merge

import (
	"slices"

	"github.com/copse-dev/copse/internal/item"
)

// lost is what the deletion of an item took from others.
type lost struct{ children, dependents []key }

// relations are what an item refers to in one tree.
type relations struct {
	parent    key // zero for none
	dependsOn []key
}

// relate merges the relations of all items.
func (m *merger) relate() {
	for _, e := range m.sorted {
		if e.state == absent {
			continue
		}
		base, ours, theirs := m.relationsOf(e, e.base), m.relationsOf(e, e.ours), m.relationsOf(e, e.theirs)
		switch {
		case e.ours == nil:
			e.parent, e.dependsOn = theirs.parent, theirs.dependsOn
		case e.theirs == nil:
			e.parent, e.dependsOn = ours.parent, ours.dependsOn
		default:
			e.parent = mergeParent(base.parent, ours.parent, theirs.parent)
			e.dependsOn = mergeSet(base.dependsOn, ours.dependsOn, theirs.dependsOn, key.compare)
		}
		for _, v := range e.versions() {
			if v != nil && v.trashed {
				e.lost.children = append(e.lost.children, m.keys(v, v.file.Lost().Children)...)
				e.lost.dependents = append(e.lost.dependents, m.keys(v, v.file.Lost().Dependents)...)
			}
		}
	}
	for _, e := range m.sorted {
		if e.state != absent {
			m.dropImpossible(e)
		}
	}
	m.breakCircles()
}

func (m *merger) keys(v *version, ids []item.ID) []key {
	var keys []key
	for _, id := range ids {
		keys = append(keys, m.meaning(v, id))
	}
	return keys
}

// relationsOf are the relations of an item in the tree of v, with those that only a
// deletion took away which does not hold.
func (m *merger) relationsOf(e *entry, v *version) relations {
	if v == nil {
		return relations{}
	}
	r := relations{dependsOn: m.keys(v, v.it.DependsOn)}
	if v.it.Parent != 0 {
		r.parent = m.meaning(v, v.it.Parent)
	}
	if v.side == 0 || e.base == nil {
		return r
	}
	if parent := e.base.it.Parent; r.parent == (key{}) && parent != 0 {
		if k := m.meaning(e.base, parent); m.revived(k, v.side) {
			r.parent = k
		}
	}
	for _, id := range e.base.it.DependsOn {
		if k := m.meaning(e.base, id); !slices.Contains(r.dependsOn, k) && m.revived(k, v.side) {
			r.dependsOn = append(r.dependsOn, k)
		}
	}
	return r
}

// revived reports whether a side deleted an item that the result has.
func (m *merger) revived(k key, side int) bool {
	e := m.entries[k]
	return e != nil && e.state == live && stateOf(e.base) == live && stateOf(e.versions()[side]) != live
}

func mergeParent(base, ours, theirs key) key {
	switch {
	case ours == theirs, theirs == base:
		return ours
	case ours == base:
		return theirs
	case ours.dangles() != theirs.dangles():
		if ours.dangles() {
			return theirs
		}
		return ours
	case ours.compare(theirs) > 0: // none is the least
		return ours
	}
	return theirs
}

// mergeSet merges lists whose order means little: if one side changed its list, that
// is the result; else what base had comes first, then what was added, sorted.
func mergeSet[T comparable](base, ours, theirs []T, compare func(a, b T) int) []T {
	switch {
	case slices.Equal(ours, theirs), slices.Equal(theirs, base):
		return ours
	case slices.Equal(ours, base):
		return theirs
	}
	var merged, added []T
	for _, v := range base {
		if slices.Contains(ours, v) && slices.Contains(theirs, v) && !slices.Contains(merged, v) {
			merged = append(merged, v)
		}
	}
	for _, v := range slices.Concat(ours, theirs) {
		if !slices.Contains(base, v) && !slices.Contains(added, v) {
			added = append(added, v)
		}
	}
	slices.SortFunc(added, compare)
	return append(merged, added...)
}

// dropImpossible takes out what refers to an item that is not among the live ones. In
// the trash, that is noted with the deleted item, for when it comes back.
func (m *merger) dropImpossible(e *entry) {
	if e.state == trashed {
		return
	}
	if e.parent != (key{}) && !m.possible(e, e.parent) {
		if target := m.entries[e.parent]; target != nil && target.state == trashed {
			target.lost.children = append(target.lost.children, e.key)
		}
		e.parent = key{}
	}
	e.dependsOn = slices.DeleteFunc(slices.Clone(e.dependsOn), func(k key) bool {
		if m.possible(e, k) {
			return false
		}
		if target := m.entries[k]; target != nil && target.state == trashed {
			target.lost.dependents = append(target.lost.dependents, e.key)
		}
		return true
	})
}

// possible reports whether an item can refer to another in the result.
func (m *merger) possible(e *entry, k key) bool {
	if k.dangles() {
		// It stays what it is, a reference to nothing, unless the number means
		// something now.
		for _, other := range m.sorted {
			if other.id == k.born && other.state != absent {
				m.report(DroppedRelation, e, "does not refer to #%d, which is another item now", k.born)
				return false
			}
		}
		return true
	}
	target := m.entries[k]
	if k == e.key || target == nil || target.state == absent {
		if target != nil && k != e.key {
			m.report(DroppedRelation, e, "does not refer to %q, which is not here", target.title())
		}
		return false
	}
	return target.state == live
}

// breakCircles drops relations that neither tree had in a circle but the result has.
func (m *merger) breakCircles() {
	parents := func(e *entry) []key { return []key{e.parent} }
	dependencies := func(e *entry) []key { return e.dependsOn }
	for _, e := range slices.Backward(m.sorted) {
		if e.state != live {
			continue
		}
		if e.parent != (key{}) && !m.had(e, e.parent, parentOf) && m.reaches(e.parent, e.key, parents) {
			m.report(DroppedRelation, e, "has no parent: #%d is below it", m.entries[e.parent].id)
			e.parent = key{}
		}
		e.dependsOn = slices.DeleteFunc(e.dependsOn, func(k key) bool {
			if m.had(e, k, dependenciesOf) || !m.reaches(k, e.key, dependencies) {
				return false
			}
			m.report(DroppedRelation, e, "does not depend on #%d, which depends on it", m.entries[k].id)
			return true
		})
	}
}

func parentOf(r relations) []key       { return []key{r.parent} }
func dependenciesOf(r relations) []key { return r.dependsOn }

// had reports whether a relation is as old as the base, or the only version there is.
func (m *merger) had(e *entry, k key, of func(relations) []key) bool {
	return e.base != nil && slices.Contains(of(m.relationsOf(e, e.base)), k)
}

// reaches reports whether next leads from one item to another.
func (m *merger) reaches(from, target key, next func(*entry) []key) bool {
	seen := map[key]bool{}
	for queue := []key{from}; len(queue) > 0; {
		k := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		if k == target {
			return true
		}
		if e := m.entries[k]; e != nil && !seen[k] {
			seen[k] = true
			queue = append(queue, next(e)...)
		}
	}
	return false
}
