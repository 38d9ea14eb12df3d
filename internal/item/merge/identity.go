package merge

import (
	"cmp"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// key names an item in all three trees. One without a time of creation can be that of
// a reference to a number that no item has.
type key struct {
	created string
	born    item.ID // the least number that the item is known to have had
	apart   string  // tells items with the same birth apart
}

func (k key) compare(other key) int {
	return cmp.Or(cmp.Compare(k.created, other.created), cmp.Compare(k.born, other.born), cmp.Compare(k.apart, other.apart))
}

// dangling is the key of a number that no item has.
func dangling(id item.ID) key { return key{born: id, apart: "dangling"} }

func (k key) dangles() bool { return k.apart == "dangling" }

// entry is an item of any of the trees.
type entry struct {
	key                key
	base, ours, theirs *version
	state              state
	id                 item.ID // in the result
	parent             key     // in the result
	dependsOn          []key
	lost               lost
}

// state is where an item is.
type state int

const (
	absent state = iota
	live
	trashed
)

func (e *entry) versions() []*version { return []*version{e.base, e.ours, e.theirs} }

func (e *entry) name() string {
	folder := ItemsFolder
	if e.state == trashed {
		folder = TrashFolder
	}
	return folder + "/" + e.id.String() + extension
}

func (e *entry) title() string {
	for _, v := range []*version{e.ours, e.theirs, e.base} {
		if v != nil {
			return v.it.Title
		}
	}
	return ""
}

// identify finds out which items of the trees are the same.
func (m *merger) identify() {
	m.records = renumbered.Union(m.base.records, m.ours.records, m.theirs.records)
	byCreated := map[string][]*version{}
	for i, s := range m.sides() {
		for _, v := range s.versions {
			v.side = i
			byCreated[v.it.Created] = append(byCreated[v.it.Created], v)
		}
	}
	m.entries = map[key]*entry{}
	for created, versions := range byCreated {
		links := m.links(created, versions)
		titles := map[string]bool{}
		if created != "" && !oncePerTree(versions) {
			titles = sharedTitles(versions)
		}
		for _, v := range versions {
			v.key = key{created: created, born: links.root(v.id)}
			if titles[v.it.Title] {
				v.key = key{created: created, apart: v.it.Title}
			}
			m.enter(v)
		}
	}
	m.separate()
	for _, e := range m.entries {
		m.sorted = append(m.sorted, e)
	}
	slices.SortFunc(m.sorted, func(a, b *entry) int { return a.key.compare(b.key) })
}

// sharedTitles are the titles that tell items of one time of creation apart: no tree
// has one twice, and several have it. Their numbers do not: two items that were born at
// the same moment can have had the same one.
func sharedTitles(versions []*version) map[string]bool {
	seen := map[string][3]int{}
	for _, v := range versions {
		counts := seen[v.it.Title]
		counts[v.side]++
		seen[v.it.Title] = counts
	}
	shared := map[string]bool{}
	for title, counts := range seen {
		trees := 0
		for _, n := range counts {
			trees += min(n, 1)
		}
		shared[title] = slices.Max(counts[:]) == 1 && trees > 1
	}
	return shared
}

// enter puts a version into its entry. Two items of one tree never share one.
func (m *merger) enter(v *version) {
	for {
		e := m.entries[v.key]
		if e == nil {
			e = &entry{key: v.key}
			m.entries[v.key] = e
		}
		at := []**version{&e.base, &e.ours, &e.theirs}[v.side]
		if *at == nil {
			*at = v
			return
		}
		v.key.apart += "/" + v.id.String()
	}
}

// separate parts what only looks like one item: two that were born at the same moment
// with the same number, in two clones.
func (m *merger) separate() {
	for _, e := range m.entries {
		if e.base != nil || e.ours == nil || e.theirs == nil || !bornApart(e.ours, e.theirs, m.options) {
			continue
		}
		for i, v := range []*version{e.ours, e.theirs} {
			v.key.apart = v.it.Title
			other := &entry{key: v.key}
			if i == 0 {
				other.ours = v
			} else {
				other.theirs = v
			}
			m.entries[v.key] = other
		}
		delete(m.entries, e.key)
	}
}

// bornApart reports whether two items with the same birth are two nevertheless. A
// title that was never changed is part of the birth.
func bornApart(a, b *version, o Options) bool {
	if a.it.Title == b.it.Title {
		return false
	}
	pristine := func(v *version) bool { return v.it.Updated == v.it.Created }
	return o.BornApart || pristine(a) && pristine(b)
}

// numbers joins the numbers of one item.
type numbers map[item.ID]item.ID

func (n numbers) root(id item.ID) item.ID {
	for n[id] != 0 && n[id] != id {
		id = n[id]
	}
	return id
}

func (n numbers) join(a, b item.ID) {
	a, b = n.root(a), n.root(b)
	n[max(a, b)] = min(a, b)
}

// links joins the numbers that items of one time of creation have had: by the records,
// and, where a tree has no other item of that time, by the title.
func (m *merger) links(created string, versions []*version) numbers {
	n := numbers{}
	for _, r := range m.records {
		if r.Created == created {
			n.join(r.From, r.To)
		}
	}
	if created == "" || !oncePerTree(versions) {
		return n
	}
	for i, v := range versions {
		for _, other := range versions[:i] {
			if v.id != other.id && v.it.Title == other.it.Title {
				n.join(v.id, other.id)
			}
		}
	}
	return n
}

// oncePerTree reports whether no two of the versions are in one tree.
func oncePerTree(versions []*version) bool {
	var seen [3]bool
	for _, v := range versions {
		if seen[v.side] {
			return false
		}
		seen[v.side] = true
	}
	return true
}
