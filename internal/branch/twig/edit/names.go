package edit

import (
	"slices"

	"github.com/tailscale/hujson"
)

// Reparent moves a branch from one of its parents to another, which takes the place of the first.
// It returns false if the branch is not stacked on from, and a *CycleError if to is stacked on the
// branch.
func (d *Draft) Reparent(child, from, to string) (bool, error) {
	found := d.edges.between(child, from)
	if len(found) == 0 || from == to {
		return false, nil
	}
	if err := d.cycle(child, to); err != nil {
		return false, err
	}
	already := len(d.edges.between(child, to)) > 0
	for _, i := range slices.Clone(found) {
		if already {
			d.edges.remove(i)
		} else {
			d.ends(i, child, to)
		}
	}
	d.changed = true
	return true, nil
}

// ends gives a relation of the file other ends.
func (d *Draft) ends(i int, child, parent string) {
	old, record := d.edges.list[i], object(d.depends.Elements[i])
	if old.child != child {
		value(record, "child").Value = hujson.String(child)
	}
	if old.parent != parent {
		value(record, "parent").Value = hujson.String(parent)
	}
	d.edges.change(i, child, parent)
}

// Rename replaces the name of a branch everywhere in the file. Existing data about the new name
// remains, and duplicates are dropped.
func (d *Draft) Rename(from, to string) {
	if from == to {
		return
	}
	d.changed = true
	for _, i := range slices.Concat(d.edges.from(from), d.edges.to(from)) {
		at := d.edges.list[i]
		if at.gone {
			continue
		}
		if at.child == from {
			at.child = to
		}
		if at.parent == from {
			at.parent = to
		}
		d.ends(i, at.child, at.parent)
		same := d.edges.between(at.child, at.parent)
		if at.child != at.parent {
			same = same[1:] // the first one stays
		}
		for _, again := range slices.Clone(same) {
			d.edges.remove(again)
		}
	}
	if d.links.last(to) < 0 {
		for _, i := range d.links.rename(from, to) {
			m := &d.branches.Members[i]
			m.Name = name(to)
			if known := value(object(m.Value), "branch"); known != nil {
				known.Value = hujson.String(to)
			}
		}
	}
	if d.tops.last(to) >= 0 {
		d.tops.remove(from)
	}
	for _, i := range d.tops.rename(from, to) {
		value(object(d.roots.Elements[i]), "branch").Value = hujson.String(to)
	}
}

// Forget drops a branch: its parents and its links. Branches that are stacked on it keep it as
// their parent. It returns false if there was nothing to drop.
func (d *Draft) Forget(branch string) bool {
	parents := len(d.Undepend(branch, "")) > 0
	removed := d.links.remove(branch) || parents
	d.changed = d.changed || removed
	return removed
}

// Children returns the branches that are stacked on a branch, in the order of the file.
func (d *Draft) Children(parent string) []string {
	var children []string
	for _, i := range d.edges.to(parent) {
		children = append(children, d.edges.list[i].child)
	}
	return children
}
