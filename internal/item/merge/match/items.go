package match

import (
	"cmp"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// Key names an item in all three trees. One without a time of creation can be that of
// a reference to a number that no item has.
type Key struct {
	Created string
	Born    item.ID // the least number that the item is known to have had
	apart   string  // tells items with the same birth apart
}

// Compare orders keys by birth.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Created, other.Created), cmp.Compare(k.Born, other.Born), cmp.Compare(k.apart, other.apart))
}

// Dangling returns the key of a number that no item has.
func Dangling(id item.ID) Key { return Key{Born: id, apart: "dangling"} }

// Dangles reports whether it is the key of a number that no item has.
func (k Key) Dangles() bool { return k.apart == "dangling" }

// Entry is an item of any of the trees.
type Entry struct {
	Key                Key
	Base, Ours, Theirs *Version // nil where it is not
}

// Versions returns those of the three trees.
func (e *Entry) Versions() []*Version { return []*Version{e.Base, e.Ours, e.Theirs} }

// Title returns the title of the item in the first tree that has it: ours, theirs, the base.
func (e *Entry) Title() string {
	for _, v := range []*Version{e.Ours, e.Theirs, e.Base} {
		if v != nil {
			return v.Item.Title
		}
	}
	return ""
}

// Items are the items of three trees.
type Items struct {
	Sides   [3]*Side // the base, ours, and theirs
	Records []renumbered.Record
	Entries map[Key]*Entry
	Sorted  []*Entry // by key

	always bool
}

// Find finds out which items of the trees are the same. apart says that an item which base
// lacks is not in both others unless it is the same there in all that a birth decides.
func Find(base, ours, theirs *Side, apart bool) *Items {
	m := &Items{
		Sides: [3]*Side{base, ours, theirs}, Records: renumbered.Union(base.Records, ours.Records, theirs.Records),
		Entries: map[Key]*Entry{}, always: apart,
	}
	m.identify()
	return m
}

// identify finds out which items of the trees are the same.
func (m *Items) identify() {
	byCreated := map[string][]*Version{}
	for i, s := range m.Sides {
		for _, v := range s.Versions {
			v.Side = i
			byCreated[v.Item.Created] = append(byCreated[v.Item.Created], v)
		}
	}
	records := map[string][]renumbered.Record{}
	for _, r := range m.Records {
		records[r.Created] = append(records[r.Created], r)
	}
	for created, versions := range byCreated {
		links := links(created, versions, records[created])
		titles := map[string]bool{}
		if created != "" && !oncePerTree(versions) {
			titles = sharedTitles(versions)
		}
		for _, v := range versions {
			v.Key = Key{Created: created, Born: links.root(v.ID)}
			if titles[v.Item.Title] {
				v.Key = Key{Created: created, apart: v.Item.Title}
			}
			m.enter(v)
		}
	}
	m.separate()
	for _, e := range m.Entries {
		m.Sorted = append(m.Sorted, e)
	}
	slices.SortFunc(m.Sorted, func(a, b *Entry) int { return a.Key.Compare(b.Key) })
}

// sharedTitles returns the titles that tell items of one time of creation apart: no tree has one
// twice, and several have it. Their numbers do not: two items that were born at the same moment can
// have had the same one.
func sharedTitles(versions []*Version) map[string]bool {
	seen := map[string][3]int{}
	for _, v := range versions {
		counts := seen[v.Item.Title]
		counts[v.Side]++
		seen[v.Item.Title] = counts
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
func (m *Items) enter(v *Version) {
	for {
		e := m.Entries[v.Key]
		if e == nil {
			e = &Entry{Key: v.Key}
			m.Entries[v.Key] = e
		}
		at := []**Version{&e.Base, &e.Ours, &e.Theirs}[v.Side]
		if *at == nil {
			*at = v
			return
		}
		v.Key.apart += "/" + v.ID.String()
	}
}

// separate parts what only looks like one item: two that were born at the same moment
// with the same number, in two clones.
func (m *Items) separate() {
	for _, e := range m.Entries {
		if e.Base != nil || e.Ours == nil || e.Theirs == nil || !BornApart(e.Ours, e.Theirs, m.always) {
			continue
		}
		for i, v := range []*Version{e.Ours, e.Theirs} {
			v.Key.apart = v.Item.Title
			other := &Entry{Key: v.Key}
			if i == 0 {
				other.Ours = v
			} else {
				other.Theirs = v
			}
			m.Entries[v.Key] = other
		}
		delete(m.Entries, e.Key)
	}
}

// BornApart reports whether two items with the same birth are two nevertheless: if their
// titles differ and were never changed or, with always, if their titles differ.
func BornApart(a, b *Version, always bool) bool {
	if a.Item.Title == b.Item.Title {
		return false
	}
	pristine := func(v *Version) bool { return v.Item.Updated == v.Item.Created }
	return always || pristine(a) && pristine(b)
}

// numbers joins the numbers of one item.
type numbers map[item.ID]item.ID

func (n numbers) root(id item.ID) item.ID {
	for n[id] != 0 && n[id] != id {
		if next := n[n[id]]; next != 0 {
			n[id] = next // keeps the way short for the next call
		}
		id = n[id]
	}
	return id
}

func (n numbers) join(a, b item.ID) {
	a, b = n.root(a), n.root(b)
	n[max(a, b)] = min(a, b)
}

// links joins the numbers that items of one time of creation have had: by the records of that time,
// and, where a tree has no other item of that time, by the title.
func links(created string, versions []*Version, records []renumbered.Record) numbers {
	n := numbers{}
	for _, r := range records {
		n.join(r.From, r.To)
	}
	if created == "" || !oncePerTree(versions) {
		return n
	}
	for i, v := range versions {
		for _, other := range versions[:i] {
			if v.ID != other.ID && v.Item.Title == other.Item.Title {
				n.join(v.ID, other.ID)
			}
		}
	}
	return n
}

// oncePerTree reports whether no two of the versions are in one tree.
func oncePerTree(versions []*Version) bool {
	var seen [3]bool
	for _, v := range versions {
		if seen[v.Side] {
			return false
		}
		seen[v.Side] = true
	}
	return true
}

// References returns the items that an item refers to.
func (m *Items) References(v *Version) []Key {
	var keys []Key
	for _, id := range append([]item.ID{v.Item.Parent}, v.Item.DependsOn...) {
		if id != 0 {
			keys = append(keys, m.Meaning(v, id))
		}
	}
	return keys
}

// Meaning returns the item that a number means in the tree of a version. One that is not there was
// known to the base if the change came from elsewhere.
func (m *Items) Meaning(v *Version, id item.ID) Key {
	for _, s := range []*Side{m.Sides[v.Side], m.Sides[0]} {
		if target := s.Numbers[id]; target != nil {
			return target.Key
		}
	}
	return Dangling(id)
}
