package edit

import (
	"slices"

	"github.com/tailscale/hujson"
)

// Reparent moves a branch from one of its parents to another, which takes the place of the first.
// It returns false if the branch is not stacked on from, and a *CycleError if to is stacked on the
// branch.
func (d *Draft) Reparent(child, from, to string) (bool, error) {
	if !slices.Contains(d.parents[child], from) || from == to {
		return false, nil
	}
	if path := d.path(to, child); path != nil {
		return false, &CycleError{Path: path}
	}
	already := slices.Contains(d.parents[child], to)
	d.depends.Elements = slices.DeleteFunc(d.depends.Elements, func(e hujson.ArrayElement) bool {
		return already && text(e, "child") == child && text(e, "parent") == from
	})
	for _, e := range d.depends.Elements {
		if text(e, "child") == child && text(e, "parent") == from {
			value(object(e), "parent").Value = hujson.String(to)
		}
	}
	d.reload()
	return true, nil
}

// Rename replaces the name of a branch everywhere in the file. Existing data about the new name
// remains, and duplicates are dropped.
func (d *Draft) Rename(from, to string) {
	rename := func(e hujson.ArrayElement, key string) {
		if text(e, key) == from {
			value(object(e), key).Value = hujson.String(to)
			d.changed = true
		}
	}
	for _, e := range d.depends.Elements {
		rename(e, "child")
		rename(e, "parent")
	}
	met := make(map[[2]string]bool)
	d.depends.Elements = slices.DeleteFunc(d.depends.Elements, func(e hujson.ArrayElement) bool {
		pair := [2]string{text(e, "child"), text(e, "parent")}
		again := met[pair] || pair[0] == pair[1]
		met[pair] = true
		return again
	})
	if entry(d.branches, to) < 0 {
		for i, m := range d.branches.Members {
			if literal(m.Name) == from {
				d.branches.Members[i].Name = name(to)
				if known := value(object(m.Value), "branch"); known != nil {
					known.Value = hujson.String(to)
				}
				d.changed = true
			}
		}
	}
	isRoot := slices.ContainsFunc(d.roots.Elements, func(e hujson.ArrayElement) bool { return text(e, "branch") == to })
	d.roots.Elements = slices.DeleteFunc(d.roots.Elements, func(e hujson.ArrayElement) bool {
		return isRoot && text(e, "branch") == from
	})
	for _, e := range d.roots.Elements {
		rename(e, "branch")
	}
	d.reload()
}

// Forget drops a branch: its parents and its links. Branches that are stacked on it keep it as
// their parent. It returns false if there was nothing to drop.
func (d *Draft) Forget(branch string) bool {
	removed := len(d.Undepend(branch, "")) > 0
	if entry(d.branches, branch) >= 0 {
		d.branches.Members = slices.DeleteFunc(d.branches.Members, func(m hujson.ObjectMember) bool { return literal(m.Name) == branch })
		removed = true
	}
	d.changed = d.changed || removed
	return removed
}

// Children returns the branches that are stacked on a branch, in the order of the file.
func (d *Draft) Children(parent string) []string {
	var children []string
	for _, e := range d.depends.Elements {
		if text(e, "parent") == parent {
			children = append(children, text(e, "child"))
		}
	}
	return children
}

// reload finds the parents again after dependencies were changed in place.
func (d *Draft) reload() {
	d.changed = true
	clear(d.parents)
	for _, e := range d.depends.Elements {
		d.parents[text(e, "child")] = append(d.parents[text(e, "child")], text(e, "parent"))
	}
}
