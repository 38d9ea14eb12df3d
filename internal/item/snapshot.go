package item

import (
	"slices"
	"strings"
)

// Snapshot is all items of a store as they were at one moment. It never
// changes, and neither may what it hands out.
type Snapshot struct {
	entries []*Entry // by ID
	ids     []ID     // of the entries
	// Warnings are about what is not in it, or not as it should be.
	Warnings []Warning
}

// Entry is an item in a snapshot: its summary and what a search looks at.
type Entry struct {
	Summary
	title, description string // folded; of one piece of memory
}

// NewEntry returns the entry of an item. It keeps none of the memory of the
// item's description and title.
func NewEntry(it *Item) *Entry {
	title := fold(it.Title)
	both := strings.Clone(title + fold(it.Description))
	return &Entry{Summary: it.Summary, title: both[:len(title)], description: both[len(title):]}
}

// fold makes texts that differ in case only the same, character by character.
func fold(s string) string { return strings.ToLower(s) }

// NewSnapshot returns a snapshot of the entries, which must be sorted by ID.
func NewSnapshot(entries []*Entry, warnings []Warning) *Snapshot {
	ids := make([]ID, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	return &Snapshot{entries: entries, ids: ids, Warnings: warnings}
}

// Len is the number of items.
func (s *Snapshot) Len() int { return len(s.entries) }

// Find returns an item; the error is a [*NotFoundError]. It is a [Lookup].
func (s *Snapshot) Find(id ID) (*Summary, error) {
	i, ok := position(s.ids, id)
	if !ok {
		return nil, &NotFoundError{ID: id}
	}
	return &s.entries[i].Summary, nil
}

// position finds id in a sorted list of ids. Most lists have few gaps, so that
// it is where it would be without any, or a little before.
func position(ids []ID, id ID) (int, bool) {
	if id < 1 {
		return 0, false
	}
	end := int(min(id, ID(len(ids))))
	if end > 0 && ids[end-1] == id {
		return end - 1, true
	}
	return slices.BinarySearch(ids[:end], id)
}

// Filter selects items. What is empty does not restrict.
type Filter struct {
	Type     string
	Status   string
	Priority string
	Assignee string
	Label    string
	// Iteration is by default the current one. All means every iteration, and
	// outweighs it.
	Iteration string
	All       bool
	// Ready means not done, and not waiting for an item that is not done.
	Ready bool
}

// List returns the items that a filter selects, by ID.
func (s *Snapshot) List(c Config, f Filter) []*Summary {
	var list []*Summary
	for e := range s.selected(c, f) {
		list = append(list, &e.Summary)
	}
	return list
}

// selected yields the entries that a filter selects, by ID.
func (s *Snapshot) selected(c Config, f Filter) func(yield func(*Entry) bool) {
	switch {
	case f.All:
		f.Iteration = ""
	case f.Iteration == "":
		f.Iteration = c.CurrentIteration
	}
	done := c.Done()
	return func(yield func(*Entry) bool) {
		for _, e := range s.entries {
			if f.matches(&e.Summary) && (!f.Ready || s.ready(&e.Summary, done)) && !yield(e) {
				return
			}
		}
	}
}

// matches checks all but the readiness.
func (f *Filter) matches(s *Summary) bool {
	return matches(f.Iteration, s.Iteration) &&
		matches(f.Type, s.Type) &&
		matches(f.Status, s.Status) &&
		matches(f.Priority, s.Priority) &&
		matches(f.Assignee, s.Assignee) &&
		(f.Label == "" || slices.Contains(s.Labels, f.Label))
}

func matches(want, value string) bool { return want == "" || want == value }

// ready reports whether work on an item can go on. An item that does not exist
// holds up nothing.
func (s *Snapshot) ready(it *Summary, done string) bool {
	return it.Status != done && !slices.ContainsFunc(it.DependsOn, func(id ID) bool {
		dependency, err := s.Find(id)
		return err == nil && dependency.Status != done
	})
}

// Children returns the items whose parent is id.
func (s *Snapshot) Children(id ID) []*Summary {
	return s.where(func(it *Summary) bool { return it.Parent == id })
}

// Dependents returns the items that depend on id.
func (s *Snapshot) Dependents(id ID) []*Summary {
	return s.where(func(it *Summary) bool { return slices.Contains(it.DependsOn, id) })
}

func (s *Snapshot) where(condition func(*Summary) bool) []*Summary {
	var list []*Summary
	for _, e := range s.entries {
		if condition(&e.Summary) {
			list = append(list, &e.Summary)
		}
	}
	return list
}
