package item

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unique"

	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/corpus"
	"github.com/copse-dev/copse/internal/spread"
)

// Snapshot is all items of a store at one moment. It is immutable, and so are its results. The zero
// Snapshot has none.
type Snapshot struct {
	items []*Summary // by ID
	ids   []ID       // of the items
	texts corpus.Corpus[*Summary]
	// claims are the valid ones, by item.
	claims map[ID]claim.Claim
	// Warnings are about items that are missing or damaged.
	Warnings []Warning
}

// Entry is an item for a snapshot: its summary and the text for searches.
type Entry struct {
	summary *Summary
	texts   *corpus.Doc[*Summary]
}

// NewEntry returns the entry of an item. It can share memory with the item; a
// snapshot that has taken it in does not, so that the text which an item was read
// from is not kept for the sake of its title.
func NewEntry(it *Item) *Entry {
	s := it.Compact()
	return &Entry{summary: &s, texts: corpus.NewDoc(&s, it.Title, it.Description)}
}

// Compact returns a copy that does not keep the text of a file in memory, in which values that many
// items have are kept once.
func (s *Summary) Compact() Summary {
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

// With returns the snapshot with changes: under each ID, an item in place of the one that was
// there; nil is for none. The warnings are the new one's.
func (s *Snapshot) With(changes map[ID]*Entry, warnings []Warning) *Snapshot {
	if len(changes) == 0 {
		return &Snapshot{items: s.items, ids: s.ids, texts: s.texts, claims: s.claims, Warnings: warnings}
	}
	next := &Snapshot{
		items:    make([]*Summary, 0, len(s.items)+len(changes)),
		ids:      make([]ID, 0, len(s.items)+len(changes)),
		claims:   s.claims,
		Warnings: warnings,
	}
	add := func(it *Summary) { next.items, next.ids = append(next.items, it), append(next.ids, it.ID) }
	docs := make(map[int64]*corpus.Doc[*Summary], len(changes))
	rest := s.items
	for _, id := range slices.Sorted(maps.Keys(changes)) {
		at, known := slices.BinarySearchFunc(rest, id, func(it *Summary, id ID) int { return cmp.Compare(it.ID, id) })
		for _, it := range rest[:at] {
			add(it)
		}
		if rest = rest[at:]; known {
			rest = rest[1:]
		}
		docs[int64(id)] = nil
		if e := changes[id]; e != nil {
			add(e.summary)
			docs[int64(id)] = e.texts
		}
	}
	for _, it := range rest {
		add(it)
	}
	next.texts = s.texts.With(docs)
	return next
}

// WithClaims returns the snapshot with these claims, which are the valid ones.
func (s *Snapshot) WithClaims(claims map[ID]claim.Claim) *Snapshot {
	if len(claims) == 0 && len(s.claims) == 0 {
		return s
	}
	with := *s
	with.claims = claims
	return &with
}

// Claim returns the claim of an item, false if nobody holds it.
func (s *Snapshot) Claim(id ID) (claim.Claim, bool) {
	c, ok := s.claims[id]
	return c, ok
}

// Claims returns the items that somebody holds, by ID.
func (s *Snapshot) Claims() []*Summary {
	held := make([]*Summary, 0, len(s.claims))
	for _, id := range slices.Sorted(maps.Keys(s.claims)) {
		if it, err := s.Find(id); err == nil {
			held = append(held, it)
		}
	}
	return held
}

// Len returns the number of items.
func (s *Snapshot) Len() int { return len(s.items) }

// Largest returns the largest ID; 0 if there are no items.
func (s *Snapshot) Largest() ID {
	if len(s.ids) == 0 {
		return 0
	}
	return s.ids[len(s.ids)-1]
}

// Find returns an item; the error is a [*NotFoundError]. It is a [relation.Lookup].
func (s *Snapshot) Find(id ID) (*Summary, error) {
	i, ok := position(s.ids, id)
	if !ok {
		return nil, &NotFoundError{ID: id}
	}
	return s.items[i], nil
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
	// Ready means that nothing is in the way: the item is not done, waits for no item that is not
	// done, is not claimed, and is not in progress with an assignee.
	Ready bool
	// Claimable means that a claim without a number takes it: it is ready, has no open child, and is not in
	// review.
	Claimable bool
}

// List returns the items that a filter selects, by ID.
func (s *Snapshot) List(c Config, f Filter) []*Summary {
	return s.where(s.selector(c, f))
}

// selector returns what a filter selects by. It can be used in parallel.
func (s *Snapshot) selector(c Config, f Filter) func(*Summary) bool {
	switch {
	case f.All:
		f.Iteration = ""
	case f.Iteration == "":
		f.Iteration = c.CurrentIteration
	}
	if f.Claimable {
		parents := s.openParents(c)
		return func(it *Summary) bool {
			return f.matches(it) && !parents[it.ID] && !c.inReview(it.Status) && s.ready(it, c)
		}
	}
	return func(it *Summary) bool { return f.matches(it) && (!f.Ready || s.ready(it, c)) }
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

// ready reports whether nothing is in the way of an item.
func (s *Snapshot) ready(it *Summary, c Config) bool {
	if _, held := s.claims[it.ID]; held {
		return false
	}
	return s.free(it, c)
}

// free reports whether an item would be ready if nobody held it. An item that does not
// exist holds up nothing.
func (s *Snapshot) free(it *Summary, c Config) bool {
	return !c.Done(it.Status) && (it.Assignee == "" || !c.InProgress(it.Status)) &&
		!slices.ContainsFunc(it.DependsOn, func(id ID) bool {
			dependency, err := s.Find(id)
			return err == nil && !c.Done(dependency.Status)
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

// where returns the items that meet a condition, by ID. Many are looked at in
// parallel.
func (s *Snapshot) where(condition func(*Summary) bool) []*Summary {
	const worthAnother = 1000 // items, to make another goroutine worth it
	return spread.Collect(s.items, worthAnother, func(part []*Summary) []*Summary {
		var met []*Summary
		for _, it := range part {
			if condition(it) {
				met = append(met, it)
			}
		}
		return met
	})
}
