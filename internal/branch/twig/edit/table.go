package edit

import (
	"slices"

	"github.com/tailscale/hujson"
)

// table finds the entries of a list by name. An entry keeps its index after others are gone.
type table struct {
	names []string
	gone  []bool
	at    map[string][]int // by name: in order, and possibly gone
}

func newTable(size int) table { return table{at: make(map[string][]int, size)} }

func (t *table) add(name string) {
	t.at[name] = append(t.at[name], len(t.names))
	t.names, t.gone = append(t.names, name), append(t.gone, false)
}

// last returns the effective entry of a name: the last one, -1 if there is none.
func (t *table) last(name string) int {
	if list := t.at[name]; len(list) > 0 {
		return list[len(list)-1]
	}
	return -1
}

// remove removes all entries of a name.
func (t *table) remove(name string) (removed bool) {
	for _, i := range t.at[name] {
		t.gone[i], removed = true, true
	}
	delete(t.at, name)
	return removed
}

// rename gives the entries of a name another one, which no entry has. It returns their indexes.
func (t *table) rename(from, to string) []int {
	list := t.at[from]
	for _, i := range list {
		t.names[i] = to
	}
	delete(t.at, from)
	if len(list) > 0 {
		t.at[to] = list
	}
	return list
}

// edge is a relation of the file.
type edge struct {
	child, parent string
	gone          bool
}

// edges are the relations of the file, which keep their index after others are gone. The indexes can
// have relations that are gone, or have other ends now.
type edges struct {
	list              []edge
	byChild, byParent map[string][]int
	byBoth            map[edge][]int
}

func newEdges(list *hujson.Array) edges {
	n := len(list.Elements)
	e := edges{list: make([]edge, 0, n), byChild: make(map[string][]int, n), byParent: make(map[string][]int), byBoth: make(map[edge][]int, n)}
	for _, record := range list.Elements {
		e.add(field(record, "child"), field(record, "parent"))
	}
	return e
}

func (e *edges) add(child, parent string) {
	i := len(e.list)
	e.list = append(e.list, edge{child: child, parent: parent})
	e.byChild[child] = append(e.byChild[child], i)
	e.byParent[parent] = append(e.byParent[parent], i)
	e.byBoth[edge{child: child, parent: parent}] = append(e.byBoth[edge{child: child, parent: parent}], i)
}

func (e *edges) remove(i int) { e.list[i].gone = true }

// change gives a relation other ends.
func (e *edges) change(i int, child, parent string) {
	old, now := e.list[i], edge{child: child, parent: parent}
	e.list[i] = now
	if child != old.child {
		e.byChild[child] = append(e.byChild[child], i)
	}
	if parent != old.parent {
		e.byParent[parent] = append(e.byParent[parent], i)
	}
	e.byBoth[now] = append(e.byBoth[now], i)
}

// from returns the relations of a child, in the order of the file.
func (e *edges) from(child string) []int {
	return e.clean(e.byChild, child, func(at edge) bool { return at.child == child })
}

// to returns the relations to a parent, in the order of the file.
func (e *edges) to(parent string) []int {
	return e.clean(e.byParent, parent, func(at edge) bool { return at.parent == parent })
}

// isParent reports whether a branch has children.
func (e *edges) isParent(name string) bool {
	return slices.ContainsFunc(e.byParent[name], func(i int) bool { return !e.list[i].gone && e.list[i].parent == name })
}

// between returns the relations of a child to a parent, in the order of the file.
func (e *edges) between(child, parent string) []int {
	key := edge{child: child, parent: parent}
	list := slices.DeleteFunc(e.byBoth[key], func(i int) bool { return e.list[i] != key })
	slices.Sort(list)
	e.byBoth[key] = slices.Compact(list)
	return e.byBoth[key]
}

func (e *edges) clean(index map[string][]int, name string, is func(edge) bool) []int {
	list := slices.DeleteFunc(index[name], func(i int) bool { return e.list[i].gone || !is(e.list[i]) })
	slices.Sort(list)
	index[name] = slices.Compact(list)
	return index[name]
}

// present returns the entries of a list that are not gone.
func present[T any](list []T, gone func(i int) bool) []T {
	kept := list[:0]
	for i, v := range list {
		if !gone(i) {
			kept = append(kept, v)
		}
	}
	return kept
}
