package item

import (
	"slices"
	"strings"
	"unicode/utf8"
	"unique"
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

// NewEntry returns the entry of an item. It shares no memory with it, so that
// the text which an item was read from is not kept for the sake of its title.
func NewEntry(it *Item) *Entry {
	both := make([]byte, 0, len(it.Title)+len(it.Description))
	both = appendFold(both, it.Title)
	title := len(both)
	text := string(appendFold(both, it.Description))
	return &Entry{Summary: compact(it.Summary), title: text[:title], description: text[title:]}
}

// compact returns a copy in which values that many items have are kept once.
func compact(s Summary) Summary {
	once := func(s string) string { return unique.Make(s).Value() }
	c := Summary{
		ID: s.ID, Title: strings.Clone(s.Title), Type: once(s.Type), Status: once(s.Status), Iteration: once(s.Iteration),
		Priority: once(s.Priority), Assignee: once(s.Assignee), Created: strings.Clone(s.Created), Parent: s.Parent,
		Labels: slices.Clone(s.Labels), DependsOn: slices.Clone(s.DependsOn),
	}
	c.Updated = c.Created
	if s.Updated != s.Created {
		c.Updated = strings.Clone(s.Updated)
	}
	for i, label := range c.Labels {
		c.Labels[i] = once(label)
	}
	return c
}

// fold makes texts that differ in case only the same, character by character.
func fold(s string) string { return strings.ToLower(s) }

// appendFold appends the folded text to b.
func appendFold(b []byte, s string) []byte {
	begin := len(b)
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf:
			return append(b[:begin], fold(s)...)
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

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
	selects := s.selector(c, f)
	return collect(s.entries, func(e *Entry) (*Summary, bool) { return &e.Summary, selects(&e.Summary) })
}

// selector returns what a filter selects by. It can be used in parallel.
func (s *Snapshot) selector(c Config, f Filter) func(*Summary) bool {
	switch {
	case f.All:
		f.Iteration = ""
	case f.Iteration == "":
		f.Iteration = c.CurrentIteration
	}
	done := c.Done()
	return func(it *Summary) bool { return f.matches(it) && (!f.Ready || s.ready(it, done)) }
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
	return collect(s.entries, func(e *Entry) (*Summary, bool) { return &e.Summary, condition(&e.Summary) })
}
