// Package merge merges two versions of a store of work items with a common origin.
//
// [Stores] is a pure function of three trees: no git, no files. It merges fields, not
// lines, and it never needs a person:
//
//   - An item is the same in two trees if its birth is the same: the time of its
//     creation and its first number, which [renumbered.Record] follows
//     through changes of the number. Equal numbers alone prove nothing.
//   - Labels, dependencies, and comments are sets: what either side added is present, what
//     either side removed is absent. Comments are in the order of time.
//   - Other fields that both sides changed get the greater value: of a status the one
//     further along, of a priority the higher, otherwise the one that sorts last. A rule by
//     value gives the same result in any order of merges. A rule by the time of the last
//     update would not, because that time belongs to the item and not to the field. A title
//     that loses is kept in a comment.
//   - Package prose merges descriptions. It keeps both versions of a place
//     that both sides changed.
//   - An item that one side deleted and the other changed is kept.
//   - During the merge, parents and dependencies refer to items, not numbers.
//
// If two items have one number, the one with the lower [Options.Rank] keeps it, then
// the older one. The other gets its number from the other side, or else the next
// one that is free in all trees, and its side's references follow: parents,
// dependencies, and mentions such as #10 in texts that are new on that side.
//
// Links merge field by field, too, with the same rule for what both sides changed. Of two
// claims that changed on both sides, that of their side is valid, which is published, unless it has
// ended or ours renews it. Histories have the changes of both sides.
//
// Files that are not items (templates, unreadable items) merge as texts.
package merge

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/historyfile"
	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/merge/mention"
	"github.com/copse-dev/copse/internal/item/merge/prose"
	"github.com/copse-dev/copse/internal/item/renumbered"
)

// Names in a tree.
const (
	ConfigName = match.ConfigName
	ItemsDir   = match.ItemsDir
	TrashDir   = match.TrashDir
	LinksDir   = match.LinksDir
	// ApartDir has the versions of items that could not be merged with another one.
	ApartDir = "conflicts"
)

// Tree is the files of a store: text by name, relative to the store and with slashes.
type Tree = match.Tree

// Birth names an item that has a number in a tree.
type Birth struct {
	ID      item.ID
	Created string
}

// Options are inputs that the trees do not contain.
type Options struct {
	// Rank says how well known an item is under its number: of two items that share a
	// number the one of lower rank keeps it, as 0 for what is published and 1 for the
	// rest. nil ranks all alike.
	Rank func(Birth) int
	// Taken is the largest number that is in use elsewhere.
	Taken item.ID
	// Retitled reports whether history shows that an item had both titles, one after the
	// other, under the numbers that two files of one birth have. nil: history shows nothing.
	Retitled func(created string, ids [2]item.ID, titles [2]string) bool
	// Now dates the records of changed numbers.
	Now time.Time
	// BornApart means that an item which base lacks is not in both trees unless it is
	// the same there in all that a birth decides. It holds where every merge has the
	// last common tree as its base, so that nothing comes to a side but by a merge.
	BornApart bool
}

// Result is a merged store.
type Result struct {
	Tree Tree
	// Renumbered are the items that got another number in this merge.
	Renumbered []Renumbering
	// Reports are about what a person may want to look at.
	Reports []Report
}

// Renumbering is an item that got another number.
type Renumbering struct {
	renumbered.Record
	Title string
}

// Kind says what a Report is about.
type Kind int

// Kinds of reports.
const (
	// KeptChanged is an item that one side deleted and the other changed.
	KeptChanged Kind = iota + 1
	// ChoseValue is a field that both sides changed, with one value in the result.
	ChoseValue
	// KeptBoth is a text that has two versions of a place.
	KeptBoth
	// DroppedRelation is a reference to an item that is not in the result, or that
	// would lead in a cycle.
	DroppedRelation
	// Renumbered is an item whose references got other numbers.
	Renumbered
	// Unreadable is a file that is merged as text because it is not a valid item.
	Unreadable
	// Joined is an item that a tree had in two files.
	Joined
	// KeptApart is an item whose other version is in a file beside.
	KeptApart
)

// Report is about one file of the result.
type Report struct {
	Kind Kind
	File string
	Text string // continues after the name of the file
}

// Stores merges ours and theirs, which both came from base. It fails if a configuration
// cannot be used; the error names the side.
func Stores(base, ours, theirs Tree, o Options) (Result, error) {
	m := &merger{options: o, result: Result{Tree: Tree{}}}
	var err error
	for _, s := range []struct {
		name string
		tree Tree
		side *match.Side
	}{{"the common base", base, &m.base}, {"our side", ours, &m.ours}, {"their side", theirs, &m.theirs}} {
		if *s.side, err = match.Load(s.tree); err != nil {
			return Result{}, fmt.Errorf("%s of %s %w", ConfigName, s.name, err)
		}
		if err := m.joinCopies(s.side); err != nil {
			return Result{}, err
		}
	}
	m.find()
	m.settle()
	m.number()
	m.findMoves()
	m.relate()
	if err := m.write(); err != nil {
		return Result{}, err
	}
	return m.result, nil
}

// joinCopies makes the copies of an item in one of the trees one item again.
func (m *merger) joinCopies(s *match.Side) error {
	joined, err := once(*s, m.options)
	if err != nil || len(joined.Reports) == 0 {
		return err
	}
	if s != &m.base {
		m.result.Renumbered = append(m.result.Renumbered, joined.Renumbered...)
		m.result.Reports = append(m.result.Reports, joined.Reports...)
	}
	*s, err = match.Load(joined.Tree)
	return err
}

// merger is a merge in progress.
type merger struct {
	*match.Items
	options            Options
	base, ours, theirs match.Side
	records            []renumbered.Record
	entries            map[match.Key]*entry
	sorted             []*entry         // by key
	moved              [3]mention.Moves // by side
	result             Result
}

func (m *merger) sides() []*match.Side { return []*match.Side{&m.base, &m.ours, &m.theirs} }

// find finds out which items of the trees are the same.
func (m *merger) find() {
	m.Items = match.Find(&m.base, &m.ours, &m.theirs, m.options.BornApart)
	m.records, m.entries = m.Records, make(map[match.Key]*entry, len(m.Entries))
	for _, e := range m.Sorted {
		known := &entry{Entry: e}
		m.entries[e.Key] = known
		m.sorted = append(m.sorted, known)
	}
}

func (m *merger) report(kind Kind, e *entry, format string, args ...any) {
	m.result.Reports = append(m.result.Reports, Report{Kind: kind, File: e.name(), Text: fmt.Sprintf(format, args...)})
}

// write puts the files of the result together.
func (m *merger) write() error {
	for _, e := range m.sorted {
		if e.state == absent {
			continue
		}
		text, err := m.content(e)
		if err != nil {
			return fmt.Errorf("merge %s: %w", e.name(), err)
		}
		m.result.Tree[e.name()] = text
	}
	m.mergeOthers()
	if text := renumbered.Format(m.records); text != "" {
		m.result.Tree[renumbered.Name] = text
	}
	return m.mergeConfig()
}

// mergeOthers merges the files that are not items.
func (m *merger) mergeOthers() {
	names := map[string]bool{}
	for _, s := range m.sides() {
		for _, name := range s.Others {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		base, inBase := m.base.Tree[name]
		ours, inOurs := m.ours.Tree[name]
		theirs, inTheirs := m.theirs.Tree[name]
		var text string
		switch {
		case !inOurs && !inTheirs, !inOurs && inBase && theirs == base, !inTheirs && inBase && ours == base:
			continue
		case !inOurs:
			text = theirs
		case !inTheirs:
			text = ours
		case strings.HasPrefix(name, LinksDir+"/"):
			text = fields.Link(base, ours, theirs)
		case strings.HasPrefix(name, claimfile.Directory+"/"):
			text = claimfile.Merge(path.Base(name), base, ours, theirs, m.options.Now)
		case strings.HasPrefix(name, historyfile.Directory+"/"):
			text = historyfile.Merge(ours, theirs)
		default:
			text, _ = prose.Merge(base, ours, theirs)
		}
		if _, taken := m.result.Tree[name]; taken {
			// An item that can be read on one side only: the other text stays beside it.
			name = strings.TrimSuffix(name, match.Extension) + ".unreadable" + match.Extension
		}
		if _, _, numbered := match.NumberOf(name); numbered || strings.Contains(name, ".unreadable") {
			m.result.Reports = append(m.result.Reports, Report{Unreadable, name, "cannot be read as an item and was merged as text"})
		}
		m.result.Tree[name] = text
	}
}
