package merge

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/fields"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/merge/prose"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// NoteAuthor is the author of the comments that keep a title which another replaced.
const NoteAuthor = "copse"

// content returns the text of an item's file in the result.
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
	if file, newErr := ticfile.New(merged); newErr != nil {
		err = errors.Join(err, newErr)
	} else if text, textErr := file.Text(); textErr == nil {
		return text, nil
	}
	return m.apart(e, err)
}

// apart returns the text of an item that cannot be written with the changes of both sides, for example
// because it would be too large: it has those of one side, and the other side's text is a file beside.
// Other items must not wait for it.
func (m *merger) apart(e *entry, reason error) (string, error) {
	versions := e.preferred()
	if len(versions) < 2 {
		return "", reason
	}
	it := m.readable(e, versions[0])
	it.ID, it.Created = e.id, e.Key.Created
	it.Parent, it.DependsOn = m.related(e)
	text, err := m.writeTo(e, versions[0], it)
	if err != nil {
		return "", errors.Join(reason, err)
	}
	other := versions[1].Text
	sum := sha256.Sum256([]byte(other))
	name := fmt.Sprintf("%s/%s-%x%s", ApartDir, e.id, sum[:4], match.Extension)
	m.result.Tree[name] = other
	m.report(KeptApart, e, "is too large with the changes of both sides: %v. It keeps the version that was updated last. Copy what you need from %q, and delete that file", reason, name)
	return text, nil
}

// untouched returns the text of an item that both sides have alike, and that no change
// of another touches.
func (m *merger) untouched(e *entry) (text string, ok bool) {
	if e.Ours == nil || e.Theirs == nil || e.Ours.Text != e.Theirs.Text || e.state != stateOf(e.Ours) ||
		e.id != e.Ours.ID || e.id != e.Theirs.ID || e.state == trashed {
		return "", false
	}
	parent, dependsOn := m.related(e)
	return e.Ours.Text, parent == e.Ours.Item.Parent && slices.Equal(dependsOn, e.Ours.Item.DependsOn)
}

// related returns the numbers of what an item refers to in the result.
func (m *merger) related(e *entry) (parent item.ID, dependsOn []item.ID) {
	if e.parent != (match.Key{}) {
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
		m.report(KeptChanged, e, "was deleted on one side and changed on the other; copse keeps it")
	}
}

// preferred returns the versions whose file the result can be written to, the best first. A file
// that one side alone changed keeps all of its bytes.
func (e *entry) preferred() []*match.Version {
	switch {
	case e.Ours == nil && e.Theirs == nil:
		return []*match.Version{e.Base}
	case e.Ours == nil:
		return []*match.Version{e.Theirs}
	case e.Theirs == nil, e.Base != nil && e.Theirs.Text == e.Base.Text:
		return []*match.Version{e.Ours}
	case e.Base != nil && e.Ours.Text == e.Base.Text:
		return []*match.Version{e.Theirs}
	}
	list := []*match.Version{e.Ours, e.Theirs}
	slices.SortFunc(list, func(a, b *match.Version) int {
		return cmp.Or(fields.CompareTimes(b.Item.Updated, a.Item.Updated), cmp.Compare(b.Text, a.Text))
	})
	return list
}

// writeTo writes the result over one of its versions.
func (m *merger) writeTo(e *entry, v *match.Version, merged item.Item) (string, error) {
	file, err := ticfile.Parse(v.Text)
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

// setDeletion writes the record of a deletion, or that there is none.
func (m *merger) setDeletion(e *entry, file *ticfile.File) error {
	if e.state == live {
		return file.Restore()
	}
	at := ""
	for _, v := range e.Versions() {
		if v != nil && v.Trashed && v.File.Deleted() != "" && (at == "" || v.File.Deleted() < at) {
			at = v.File.Deleted()
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

// ids returns the numbers of items in the result, sorted.
func (m *merger) ids(keys []match.Key) []item.ID {
	var ids []item.ID
	for _, k := range keys {
		if id := m.idOf(k); id != 0 {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// idOf returns the number of an item in the result; 0 if it is not there.
func (m *merger) idOf(k match.Key) item.ID {
	if k.Dangles() {
		return k.Born
	}
	if e := m.entries[k]; e != nil && e.state != absent {
		return e.id
	}
	return 0
}

// fields merges all that copse knows of an item.
func (m *merger) fields(e *entry) item.Item {
	base, ours, theirs := m.readable(e, e.Base), m.readable(e, e.Ours), m.readable(e, e.Theirs)
	var it item.Item
	switch {
	case e.Ours == nil && e.Theirs == nil:
		it = base
	case e.Ours == nil:
		it = theirs
	case e.Theirs == nil:
		it = ours
	default:
		it = m.mergeItem(e, base, ours, theirs)
	}
	it.ID = e.id
	it.Created = e.Key.Created
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
		merged, conflict := fields.Scalar(field.base, field.ours, field.theirs, field.order)
		*field.to = merged
		if conflict {
			other := field.ours
			if merged == field.ours {
				other = field.theirs
			}
			m.report(ChoseValue, e, "has the %s %q and not %q, because both sides changed it", field.name, merged, other)
		}
	}
	it.Updated = fields.Later(ours.Updated, theirs.Updated)
	it.Labels = fields.Set(base.Labels, ours.Labels, theirs.Labels, strings.Compare)
	it.Description = m.mergeDescription(e, base, ours, theirs)
	it.Comments = fields.Comments(base.Comments, ours.Comments, theirs.Comments)
	for _, v := range []item.Item{ours, theirs} {
		if v.Title != it.Title && (e.Base == nil || v.Title != base.Title) {
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
	return fields.SortComments(append(slices.Clone(it.Comments), note))
}

// statuses returns those of the result's configuration.
func (m *merger) statuses() []string {
	var lists [3][]string
	for i, s := range m.sides() {
		if s.Config != nil {
			lists[i] = s.Config.Values().Statuses
		}
	}
	return fields.Statuses(lists[0], lists[1], lists[2])
}

func (m *merger) mergeDescription(e *entry, base, ours, theirs item.Item) string {
	var merged string
	var both bool
	if e.Base == nil {
		merged, both = prose.MergeUnrelated(ours.Description, theirs.Description)
	} else {
		merged, both = prose.Merge(base.Description, ours.Description, theirs.Description)
	}
	if both {
		m.report(KeptBoth, e, "has both versions of a part of its description, with a line %q between them", prose.Divider)
	}
	return item.Text(merged)
}

// setUnknown merges the keys of the front matter that copse does not know.
func (m *merger) setUnknown(e *entry, file *ticfile.File) error {
	if e.Ours == nil || e.Theirs == nil {
		return nil
	}
	raw := func(v *match.Version, key string) string {
		if v == nil {
			return ""
		}
		lines, _ := v.File.Raw(key)
		return lines
	}
	keys := slices.Concat(e.Ours.File.UnknownKeys(), e.Theirs.File.UnknownKeys())
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		merged, _ := fields.Scalar(raw(e.Base, key), raw(e.Ours, key), raw(e.Theirs, key), nil)
		if err := file.SetRaw(key, merged); err != nil {
			return err
		}
	}
	return nil
}
