package merge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/prose"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// NoteAuthor is the author of the comments that keep a title which another replaced.
const NoteAuthor = "copse"

// content is the text of an item's file in the result.
func (m *merger) content(e *entry) (string, error) {
	if text, ok := m.untouched(e); ok {
		return text, nil
	}
	merged := m.fields(e)
	var err error
	for _, v := range e.preferred() {
		var text string
		if text, err = m.writeTo(e, v, merged); err == nil {
			m.reportState(e)
			return text, nil
		}
	}
	// Written in a way that cannot be edited: what copse knows of it, as it writes it.
	file, newErr := ticfile.New(merged)
	if newErr != nil {
		return "", errors.Join(err, newErr)
	}
	return file.Text()
}

// untouched returns the text of an item that both sides have alike, and that no change
// of another touches.
func (m *merger) untouched(e *entry) (text string, ok bool) {
	if e.ours == nil || e.theirs == nil || e.ours.text != e.theirs.text || e.state != stateOf(e.ours) ||
		e.id != e.ours.id || e.id != e.theirs.id || e.state == trashed {
		return "", false
	}
	parent, dependsOn := m.related(e)
	return e.ours.text, parent == e.ours.it.Parent && slices.Equal(dependsOn, e.ours.it.DependsOn)
}

// related are the numbers of what an item refers to in the result.
func (m *merger) related(e *entry) (parent item.ID, dependsOn []item.ID) {
	if e.parent != (key{}) {
		parent = m.idOf(e.parent)
	}
	for _, k := range e.dependsOn {
		if id := m.idOf(k); id != 0 {
			dependsOn = append(dependsOn, id)
		}
	}
	return parent, dependsOn
}

func (m *merger) reportState(e *entry) {
	if e.keptChanged() {
		m.report(KeptChanged, e, "was deleted on one side and changed on the other; it is kept")
	}
}

// preferred are the versions whose file the result can be written to, the best first.
// A file that one side alone changed keeps all of its bytes.
func (e *entry) preferred() []*version {
	switch {
	case e.ours == nil && e.theirs == nil:
		return []*version{e.base}
	case e.ours == nil:
		return []*version{e.theirs}
	case e.theirs == nil, e.base != nil && e.theirs.text == e.base.text:
		return []*version{e.ours}
	case e.base != nil && e.ours.text == e.base.text:
		return []*version{e.theirs}
	}
	list := []*version{e.ours, e.theirs}
	slices.SortFunc(list, func(a, b *version) int {
		return cmp.Or(compareTimes(b.it.Updated, a.it.Updated), cmp.Compare(b.text, a.text))
	})
	return list
}

// writeTo writes the result over one of its versions.
func (m *merger) writeTo(e *entry, v *version, merged item.Item) (string, error) {
	file, err := ticfile.Parse(v.text)
	if err != nil {
		return "", err
	}
	it := merged.Summary
	err = file.Update(e.id, item.Patch{
		Title: &it.Title, Type: &it.Type, Status: &it.Status, Priority: &it.Priority, Assignee: &it.Assignee,
		Iteration: &it.Iteration, Labels: &it.Labels, Parent: &it.Parent, DependsOn: &it.DependsOn, Description: &merged.Description,
	}, it.Updated)
	if err != nil {
		return "", err
	}
	file.SetComments(merged.Comments)
	if err := errors.Join(file.SetCreated(it.Created), m.setUnknown(e, file), m.setDeletion(e, file)); err != nil {
		return "", err
	}
	return file.Text()
}

// setDeletion writes what is noted of a deletion, or that there is none.
func (m *merger) setDeletion(e *entry, file *ticfile.File) error {
	if e.state == live {
		return file.Restore()
	}
	at := ""
	for _, v := range e.versions() {
		if v != nil && v.trashed && v.file.Deleted() != "" && (at == "" || v.file.Deleted() < at) {
			at = v.file.Deleted()
		}
	}
	noted := ticfile.Lost{Children: m.ids(e.lost.children), Dependents: m.ids(e.lost.dependents)}
	if old := file.Lost(); file.Deleted() == at && sameIDs(old.Children, noted.Children) && sameIDs(old.Dependents, noted.Dependents) {
		return nil
	}
	if at == "" {
		return file.SetLost(noted)
	}
	return file.Delete(at, noted)
}

func sameIDs(a, b []item.ID) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// ids are the numbers of items in the result, sorted.
func (m *merger) ids(keys []key) []item.ID {
	var ids []item.ID
	for _, k := range keys {
		if id := m.idOf(k); id != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// idOf is the number of an item in the result; 0 if it is not there.
func (m *merger) idOf(k key) item.ID {
	if k.dangles() {
		return k.born
	}
	if e := m.entries[k]; e != nil && e.state != absent {
		return e.id
	}
	return 0
}

// fields merges all that copse knows of an item.
func (m *merger) fields(e *entry) item.Item {
	base, ours, theirs := m.readable(e, e.base), m.readable(e, e.ours), m.readable(e, e.theirs)
	var it item.Item
	switch {
	case e.ours == nil && e.theirs == nil:
		it = base
	case e.ours == nil:
		it = theirs
	case e.theirs == nil:
		it = ours
	default:
		it = m.mergeItem(e, base, ours, theirs)
	}
	it.ID = e.id
	it.Created = e.key.created
	it.Parent, it.DependsOn = m.related(e)
	return it
}

// mergeItem merges two versions of an item; its relations are for others.
func (m *merger) mergeItem(e *entry, base, ours, theirs item.Item) item.Item {
	it := ours
	for _, field := range []struct {
		name               string
		base, ours, theirs string
		order              []string // from the least; what is not in it is less
		to                 *string
	}{
		{"title", base.Title, ours.Title, theirs.Title, nil, &it.Title},
		{"type", base.Type, ours.Type, theirs.Type, nil, &it.Type},
		{"status", base.Status, ours.Status, theirs.Status, m.statuses(), &it.Status},
		{"iteration", base.Iteration, ours.Iteration, theirs.Iteration, nil, &it.Iteration},
		{"priority", base.Priority, ours.Priority, theirs.Priority, item.Priorities(), &it.Priority},
		{"assignee", base.Assignee, ours.Assignee, theirs.Assignee, nil, &it.Assignee},
	} {
		merged, conflict := mergeScalar(field.base, field.ours, field.theirs, field.order)
		*field.to = merged
		if conflict {
			other := field.ours
			if merged == field.ours {
				other = field.theirs
			}
			m.report(ChoseValue, e, "has the %s %q; the other side had %q", field.name, merged, other)
		}
	}
	it.Updated = later(ours.Updated, theirs.Updated)
	it.Labels = mergeSet(base.Labels, ours.Labels, theirs.Labels, strings.Compare)
	it.Description = m.mergeDescription(e, base, ours, theirs)
	it.Comments = mergeComments(base.Comments, ours.Comments, theirs.Comments)
	for _, v := range []item.Item{ours, theirs} {
		if v.Title != it.Title && (e.base == nil || v.Title != base.Title) {
			it.Comments = addNote(it, v.Title)
		}
	}
	return it
}

// addNote keeps a title that another replaced. All of a note follows from the item and
// the title, so that merges in another order make the same one.
func addNote(it item.Item, title string) []item.Comment {
	note := item.Comment{Author: NoteAuthor, Date: it.Created, Body: fmt.Sprintf("Another version of this item had the title %q.", title)}
	if slices.Contains(it.Comments, note) {
		return it.Comments
	}
	return sortComments(append(slices.Clone(it.Comments), note))
}

// statuses are those of the result's configuration.
func (m *merger) statuses() []string {
	var lists [3][]string
	for i, s := range m.sides() {
		if s.config != nil {
			lists[i] = s.config.Values().Statuses
		}
	}
	return mergeStatuses(lists[0], lists[1], lists[2])
}

// mergeScalar merges a value. Where both sides changed it, that is the greater one.
func mergeScalar(base, ours, theirs string, order []string) (merged string, conflict bool) {
	switch {
	case ours == theirs, theirs == base:
		return ours, false
	case ours == base:
		return theirs, false
	}
	if cmp.Or(slices.Index(order, ours)-slices.Index(order, theirs), cmp.Compare(ours, theirs)) > 0 {
		return ours, true
	}
	return theirs, true
}

// mergeLink merges the file that says where the work on an item is.
func mergeLink(base, ours, theirs string) string {
	b, o, t := item.ParseLink(base), item.ParseLink(ours), item.ParseLink(theirs)
	var merged item.Link
	for _, field := range []struct {
		base, ours, theirs string
		to                 *string
	}{
		{b.Branch, o.Branch, t.Branch, &merged.Branch},
		{b.Worktree, o.Worktree, t.Worktree, &merged.Worktree},
		{b.PullRequest, o.PullRequest, t.PullRequest, &merged.PullRequest},
	} {
		*field.to, _ = mergeScalar(field.base, field.ours, field.theirs, nil)
	}
	// The number is for people. It is the higher one: an item that gives way to another
	// gets a number that is free.
	return merged.Text(max(item.LinkedItem(ours), item.LinkedItem(theirs)))
}

func later(a, b string) string {
	if compareTimes(a, b) > 0 && b != "" {
		return a
	}
	return cmp.Or(b, a)
}

func (m *merger) mergeDescription(e *entry, base, ours, theirs item.Item) string {
	var merged string
	var both bool
	if e.base == nil {
		merged, both = prose.MergeUnrelated(ours.Description, theirs.Description)
	} else {
		merged, both = prose.Merge(base.Description, ours.Description, theirs.Description)
	}
	if both {
		m.report(KeptBoth, e, "has both versions of a part of its description, with a line %q between them", prose.Divider)
	}
	return item.Text(merged)
}

// mergeComments merges comments. One is the same if its author, time and text are; of
// two of base's whose text alone was changed, the change counts.
func mergeComments(base, ours, theirs []item.Comment) []item.Comment {
	switch {
	case slices.Equal(ours, theirs), slices.Equal(theirs, base):
		return ours
	case slices.Equal(ours, base):
		return theirs
	}
	var merged []item.Comment
	ourEdits, theirEdits := edits(base, ours), edits(base, theirs)
	for _, c := range base {
		mine, inOurs := ourEdits[c]
		other, inTheirs := theirEdits[c]
		switch {
		case inOurs && inTheirs && mine == c:
			merged = append(merged, other)
		case inOurs && inTheirs && other == c:
			merged = append(merged, mine)
		case inOurs && inTheirs:
			merged = append(merged, mine, other)
		case inOurs && mine != c:
			merged = append(merged, mine) // removed there, changed here
		case inTheirs && other != c:
			merged = append(merged, other)
		}
	}
	for _, side := range []struct {
		comments []item.Comment
		edits    map[item.Comment]item.Comment
	}{{ours, ourEdits}, {theirs, theirEdits}} {
		edited := map[item.Comment]bool{}
		for _, c := range side.edits {
			edited[c] = true
		}
		for _, c := range side.comments {
			if !edited[c] {
				merged = append(merged, c)
			}
		}
	}
	return sortComments(merged)
}

// edits finds the comments of base in a version: the same ones, and those that differ
// in the text alone.
func edits(base, version []item.Comment) map[item.Comment]item.Comment {
	found := map[item.Comment]item.Comment{}
	rest := slices.Clone(version)
	for _, same := range []func(a, b item.Comment) bool{
		func(a, b item.Comment) bool { return a == b },
		func(a, b item.Comment) bool { return a.Author == b.Author && a.Date == b.Date },
	} {
		for _, c := range base {
			if _, ok := found[c]; ok {
				continue
			}
			if i := slices.IndexFunc(rest, func(v item.Comment) bool { return same(c, v) }); i >= 0 {
				found[c] = rest[i]
				rest = slices.Delete(rest, i, i+1)
			}
		}
	}
	return found
}

// sortComments puts comments in the order of time, each once.
func sortComments(comments []item.Comment) []item.Comment {
	slices.SortFunc(comments, func(a, b item.Comment) int {
		return cmp.Or(compareTimes(a.Date, b.Date), cmp.Compare(a.Author, b.Author), cmp.Compare(a.Body, b.Body))
	})
	return slices.Compact(comments)
}

// setUnknown merges the keys of the front matter that copse does not know.
func (m *merger) setUnknown(e *entry, file *ticfile.File) error {
	if e.ours == nil || e.theirs == nil {
		return nil
	}
	raw := func(v *version, key string) string {
		if v == nil {
			return ""
		}
		lines, _ := v.file.Raw(key)
		return lines
	}
	keys := slices.Concat(e.ours.file.UnknownKeys(), e.theirs.file.UnknownKeys())
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		merged, _ := mergeScalar(raw(e.base, key), raw(e.ours, key), raw(e.theirs, key), nil)
		if err := file.SetRaw(key, merged); err != nil {
			return err
		}
	}
	return nil
}
