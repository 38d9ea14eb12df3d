package merge

import (
	"slices"

	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/item/merge/match"
)

// lost is what the deletion of an item took from others.
type lost struct{ children, dependents []match.Key }

// relations are what an item refers to in one tree.
type relations struct {
	parent    match.Key // zero for none
	dependsOn []match.Key
}

// relate merges the relations of all items.
func (m *merger) relate() {
	for _, e := range m.sorted {
		if e.state == absent {
			continue
		}
		base, ours, theirs := m.relationsOf(e, e.Base), m.relationsOf(e, e.Ours), m.relationsOf(e, e.Theirs)
		switch {
		case e.Ours == nil:
			e.parent, e.dependsOn = theirs.parent, theirs.dependsOn
		case e.Theirs == nil:
			e.parent, e.dependsOn = ours.parent, ours.dependsOn
		default:
			e.parent = mergeParent(base.parent, ours.parent, theirs.parent)
			e.dependsOn = fields.Set(base.dependsOn, ours.dependsOn, theirs.dependsOn, match.Key.Compare)
		}
		for _, v := range e.Versions() {
			if v != nil && v.Trashed {
				e.lost.children = append(e.lost.children, m.keys(v, v.File.Lost().Children)...)
				e.lost.dependents = append(e.lost.dependents, m.keys(v, v.File.Lost().Dependents)...)
			}
		}
	}
	for _, e := range m.sorted {
		if e.state != absent {
			m.dropImpossible(e)
		}
	}
	m.breakCycles()
}

func (m *merger) keys(v *match.Version, ids []item.ID) []match.Key {
	var keys []match.Key
	for _, id := range ids {
		keys = append(keys, m.Meaning(v, id))
	}
	return keys
}

// relationsOf returns the relations of an item in the tree of v, with those that only a deletion
// took away which does not hold.
func (m *merger) relationsOf(e *entry, v *match.Version) relations {
	if v == nil {
		return relations{}
	}
	r := relations{dependsOn: m.keys(v, v.Item.DependsOn)}
	if v.Item.Parent != 0 {
		r.parent = m.Meaning(v, v.Item.Parent)
	}
	if v.Side == 0 || e.Base == nil {
		return r
	}
	if parent := e.Base.Item.Parent; r.parent == (match.Key{}) && parent != 0 {
		if k := m.Meaning(e.Base, parent); m.revived(k, v.Side) {
			r.parent = k
		}
	}
	known := distinct.Of(r.dependsOn...)
	for _, id := range e.Base.Item.DependsOn {
		if k := m.Meaning(e.Base, id); m.revived(k, v.Side) && known.Add(k) {
			r.dependsOn = append(r.dependsOn, k)
		}
	}
	return r
}

// revived reports whether a side deleted an item that the result has.
func (m *merger) revived(k match.Key, side int) bool {
	e := m.entries[k]
	return e != nil && e.state == live && stateOf(e.Base) == live && stateOf(e.Versions()[side]) != live
}

func mergeParent(base, ours, theirs match.Key) match.Key {
	switch {
	case ours == theirs, theirs == base:
		return ours
	case ours == base:
		return theirs
	case ours.Dangles() != theirs.Dangles():
		if ours.Dangles() {
			return theirs
		}
		return ours
	case ours.Compare(theirs) > 0: // none is the least
		return ours
	}
	return theirs
}

// dropImpossible takes out what refers to an item that is not among the live ones. In
// the trash, that is noted with the deleted item, for when it comes back.
func (m *merger) dropImpossible(e *entry) {
	if e.state == trashed {
		return
	}
	if e.parent != (match.Key{}) && !m.possible(e, e.parent) {
		if target := m.entries[e.parent]; target != nil && target.state == trashed {
			target.lost.children = append(target.lost.children, e.Key)
		}
		e.parent = match.Key{}
	}
	e.dependsOn = slices.DeleteFunc(slices.Clone(e.dependsOn), func(k match.Key) bool {
		if m.possible(e, k) {
			return false
		}
		if target := m.entries[k]; target != nil && target.state == trashed {
			target.lost.dependents = append(target.lost.dependents, e.Key)
		}
		return true
	})
}

// possible reports whether an item can refer to another in the result.
func (m *merger) possible(e *entry, k match.Key) bool {
	if k.Dangles() {
		// It stays what it is, a reference to nothing, unless the number means
		// something now.
		for _, other := range m.sorted {
			if other.id == k.Born && other.state != absent {
				m.report(DroppedRelation, e, "does not refer to #%d, which is another item now", k.Born)
				return false
			}
		}
		return true
	}
	target := m.entries[k]
	if k == e.Key || target == nil || target.state == absent {
		if target != nil && k != e.Key {
			m.report(DroppedRelation, e, "does not refer to %q, which is not here", target.Title())
		}
		return false
	}
	return target.state == live
}

// breakCycles drops relations that neither tree had in a cycle but the result has.
func (m *merger) breakCycles() {
	parents := func(e *entry) []match.Key { return []match.Key{e.parent} }
	dependencies := func(e *entry) []match.Key { return e.dependsOn }
	for _, e := range slices.Backward(m.sorted) {
		if e.state != live {
			continue
		}
		if e.parent != (match.Key{}) && !m.had(e, e.parent, parentOf) && m.reaches(e.parent, e.Key, parents) {
			m.report(DroppedRelation, e, "has no parent: #%d is below it", m.entries[e.parent].id)
			e.parent = match.Key{}
		}
		e.dependsOn = slices.DeleteFunc(e.dependsOn, func(k match.Key) bool {
			if m.had(e, k, dependenciesOf) || !m.reaches(k, e.Key, dependencies) {
				return false
			}
			m.report(DroppedRelation, e, "does not depend on #%d, which depends on it", m.entries[k].id)
			return true
		})
	}
}

func parentOf(r relations) []match.Key       { return []match.Key{r.parent} }
func dependenciesOf(r relations) []match.Key { return r.dependsOn }

// had reports whether a relation is as old as the base, or the only version there is.
func (m *merger) had(e *entry, k match.Key, of func(relations) []match.Key) bool {
	return e.Base != nil && slices.Contains(of(m.relationsOf(e, e.Base)), k)
}

// reaches reports whether next leads from one item to another.
func (m *merger) reaches(from, target match.Key, next func(*entry) []match.Key) bool {
	seen := map[match.Key]bool{}
	for queue := []match.Key{from}; len(queue) > 0; {
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
