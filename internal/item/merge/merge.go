// Package merge merges two versions of a store of work items that came from one.
//
// [Stores] is a pure function of three trees: no git, no files. It merges fields, not
// lines, and it never needs a person:
//
//   - An item is the same in two trees if it was one at birth: by the time of its
//     creation and the number it was born with, which [renumbered.Record] follows
//     through changes of the number. That two items have the same number says nothing.
//   - Labels, dependencies and comments are sets: what either side added is there, what
//     either side removed is gone. Comments are in the order of time.
//   - Other fields that both sides changed get the greater value: of a status the one
//     further along, of a priority the higher, else the one that sorts last. A rule by
//     value gives the same result in any order of merges; one by the time of the last
//     update would not, because that time is of the item and not of the field. A title
//     that loses is kept in a comment.
//   - Descriptions are merged by package prose, which keeps both versions of a place
//     that both sides changed.
//   - An item that one side deleted and the other changed is kept.
//   - Parents and dependencies refer to items, not numbers, while they are merged.
//
// When two items have one number, the one with the lower [Options.Rank] keeps it, then
// the older one. The other gets the number it has on the other side, or else the next
// one that is free in all trees, and what its side wrote about it follows: parents,
// dependencies, and mentions such as #10 in texts that are new on that side.
//
// Links merge field by field, too, with the same rule for what both sides changed. Of two
// claims that of their side counts, unless it has ended: the side that is published. Histories
// have the changes of both sides.
//
// Files that are no items (templates, items that cannot be read) merge as texts.
package merge

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changelog"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/merge/prose"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// Names of what is in a tree.
const (
	ConfigName  = "config.yml"
	ItemsFolder = "items"
	TrashFolder = "trash"
	LinksFolder = "links"
	extension   = ".md"
)

// Tree is the files of a store: text by name, relative to the store and with slashes.
type Tree map[string]string

// Birth names an item that has a number in a tree.
type Birth struct {
	ID      item.ID
	Created string
}

// Options say what the trees do not.
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
	// BornApart says that an item which base lacks is not in both trees unless it is
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
	// would lead in a circle.
	DroppedRelation
	// Renumbered is an item whose references got other numbers.
	Renumbered
	// Unreadable is a file that is merged as text because it is no item.
	Unreadable
	// Joined is an item that a tree had in two files.
	Joined
)

// Report is about one file of the result.
type Report struct {
	Kind Kind
	File string
	Text string // goes on from the name of the file
}

// Stores merges ours and theirs, which both came from base. It fails if a configuration
// cannot be used; the error names the side.
func Stores(base, ours, theirs Tree, o Options) (Result, error) {
	m := &merger{options: o, result: Result{Tree: Tree{}}}
	var err error
	for _, s := range []struct {
		name string
		tree Tree
		side *side
	}{{"the common base", base, &m.base}, {"our side", ours, &m.ours}, {"their side", theirs, &m.theirs}} {
		if *s.side, err = load(s.tree); err != nil {
			return Result{}, fmt.Errorf("%s of %s %w", ConfigName, s.name, err)
		}
		if err := m.joinCopies(s.side); err != nil {
			return Result{}, err
		}
	}
	m.identify()
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
func (m *merger) joinCopies(s *side) error {
	joined, err := once(*s, m.options)
	if err != nil || len(joined.Reports) == 0 {
		return err
	}
	if s != &m.base {
		m.result.Renumbered = append(m.result.Renumbered, joined.Renumbered...)
		m.result.Reports = append(m.result.Reports, joined.Reports...)
	}
	*s, err = load(joined.Tree)
	return err
}

// merger is a merge that is going on.
type merger struct {
	options            Options
	base, ours, theirs side
	records            []renumbered.Record
	entries            map[key]*entry
	sorted             []*entry // by key
	moved              [3]moves // by side
	result             Result
}

func (m *merger) sides() []*side { return []*side{&m.base, &m.ours, &m.theirs} }

func (m *merger) report(kind Kind, e *entry, format string, args ...any) {
	m.result.Reports = append(m.result.Reports, Report{Kind: kind, File: e.name(), Text: fmt.Sprintf(format, args...)})
}

// side is one of the three trees.
type side struct {
	tree     Tree
	versions []*version
	others   []string // names of files that are no items
	config   *ticfile.Config
	records  []renumbered.Record
	numbers  map[item.ID]*version // the item that a number means
}

// version is an item in one tree.
type version struct {
	side    int // as in merger.sides
	id      item.ID
	trashed bool
	text    string
	file    *ticfile.File
	it      item.Item
	key     key
}

// load reads a tree.
func load(tree Tree) (side, error) {
	s := side{tree: tree, numbers: map[item.ID]*version{}}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		switch name {
		case ConfigName, renumbered.Name:
			continue
		}
		if v := readVersion(name, tree[name]); v != nil {
			s.versions = append(s.versions, v)
			if s.numbers[v.id] == nil || !v.trashed {
				s.numbers[v.id] = v
			}
			continue
		}
		s.others = append(s.others, name)
	}
	s.records = renumbered.Parse(tree[renumbered.Name])
	text, ok := tree[ConfigName]
	if !ok {
		return s, nil
	}
	var err error
	s.config, err = ticfile.ParseConfig(text)
	return s, err
}

// numberOf is the number that the name of a file is for.
func numberOf(name string) (id item.ID, trashed, ok bool) {
	folder, file, found := strings.Cut(name, "/")
	if !found || folder != ItemsFolder && folder != TrashFolder || !strings.HasSuffix(file, extension) {
		return 0, false, false
	}
	id, err := item.ParseID(strings.TrimSuffix(file, extension))
	return id, folder == TrashFolder, err == nil
}

// readVersion reads the file of an item; nil if it is none that can be merged.
func readVersion(name, text string) *version {
	id, trashed, ok := numberOf(name)
	if !ok {
		return nil
	}
	file, err := ticfile.Parse(text)
	if err != nil {
		return nil
	}
	it, problems, err := file.Item()
	if err != nil || len(problems) > 0 && it.ID == 0 {
		return nil
	}
	it.ID = id
	return &version{id: id, trashed: trashed, text: text, file: file, it: it}
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

// mergeOthers merges the files that are no items.
func (m *merger) mergeOthers() {
	names := map[string]bool{}
	for _, s := range m.sides() {
		for _, name := range s.others {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		base, inBase := m.base.tree[name]
		ours, inOurs := m.ours.tree[name]
		theirs, inTheirs := m.theirs.tree[name]
		var text string
		switch {
		case !inOurs && !inTheirs, !inOurs && inBase && theirs == base, !inTheirs && inBase && ours == base:
			continue
		case !inOurs:
			text = theirs
		case !inTheirs:
			text = ours
		case strings.HasPrefix(name, LinksFolder+"/"):
			text = mergeLink(base, ours, theirs)
		case strings.HasPrefix(name, claimfile.Folder+"/"):
			text = claimfile.Merge(path.Base(name), ours, theirs, m.options.Now)
		case strings.HasPrefix(name, changelog.Folder+"/"):
			text = changelog.Merge(ours, theirs)
		default:
			text, _ = prose.Merge(base, ours, theirs)
		}
		if _, taken := m.result.Tree[name]; taken {
			// An item that can be read on one side only: the other text stays beside it.
			name = strings.TrimSuffix(name, extension) + ".unreadable" + extension
		}
		if _, _, numbered := numberOf(name); numbered || strings.Contains(name, ".unreadable") {
			m.result.Reports = append(m.result.Reports, Report{Unreadable, name, "cannot be read as an item and was merged as a text"})
		}
		m.result.Tree[name] = text
	}
}
