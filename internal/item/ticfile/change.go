package ticfile

import (
	"errors"
	"slices"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/yamlmap"
)

// Update writes the values of a patch into the file of item id. A value that already exists stays
// as it is written.
func (f *File) Update(id item.ID, p item.Patch, updated string) error {
	it, _, err := f.Item()
	if err != nil {
		return err
	}
	errs := []error{f.SetID(id)}
	for _, field := range []struct {
		key   string
		value *string
		old   string
	}{
		{keyTitle, p.Title, it.Title},
		{keyType, p.Type, it.Type},
		{keyStatus, p.Status, it.Status},
		{keyIteration, p.Iteration, it.Iteration},
		{keyPriority, p.Priority, it.Priority},
		{keyAssignee, p.Assignee, it.Assignee},
		{keyUpdated, &updated, it.Updated},
	} {
		if field.value != nil && *field.value != field.old {
			errs = append(errs, f.front.SetText(field.key, *field.value))
		}
	}
	if p.Labels != nil && !slices.Equal(*p.Labels, it.Labels) {
		errs = append(errs, f.front.SetList(keyLabels, *p.Labels))
	}
	if p.Parent != nil {
		errs = append(errs, f.SetParent(*p.Parent))
	}
	if p.DependsOn != nil {
		errs = append(errs, f.SetDependsOn(*p.DependsOn))
	}
	if p.Description != nil {
		f.body.setDescription(*p.Description)
	}
	return errors.Join(errs...)
}

// AddComment adds a comment, at whose date the item is updated.
func (f *File) AddComment(id item.ID, c item.Comment) error {
	f.body.addComment(c)
	return f.Update(id, item.Patch{}, c.Date)
}

// SetID sets the ID of the item in the file.
func (f *File) SetID(id item.ID) error {
	if f.front.Get(keyID).Text == id.String() {
		return nil
	}
	return f.front.SetText(keyID, id.String())
}

// SetParent sets the parent; 0 is none.
func (f *File) SetParent(id item.ID) error {
	switch old := f.front.Get(keyParent); {
	case id == 0 && old.Kind == yamlmap.Null, id != 0 && old.Text == id.String():
		return nil
	case id == 0:
		return f.front.Delete(keyParent)
	}
	return f.front.SetText(keyParent, id.String())
}

// SetDependsOn sets the dependencies.
func (f *File) SetDependsOn(ids []item.ID) error {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = id.String()
	}
	return f.setDependsOn(texts)
}

func (f *File) setDependsOn(texts []string) error {
	switch old := f.front.Get(keyDependsOn); {
	case len(texts) == 0 && old.Kind == yamlmap.List && len(old.Items) == 0:
		return nil
	case len(texts) == 0:
		return f.front.Delete(keyDependsOn)
	case slices.Equal(texts, old.Items):
		return nil
	}
	return f.front.SetList(keyDependsOn, texts)
}

// Forget removes items from the parent and the dependencies.
func (f *File) Forget(ids ...item.ID) error {
	parent := f.front.Get(keyParent).Text
	if slices.ContainsFunc(ids, func(id item.ID) bool { return id.String() == parent }) {
		if err := f.front.Delete(keyParent); err != nil {
			return err
		}
	}
	return f.NotDependOn(ids...)
}

// NotDependOn removes items from the dependencies.
func (f *File) NotDependOn(ids ...item.ID) error {
	gone := make(map[string]bool, len(ids))
	for _, id := range ids {
		gone[id.String()] = true
	}
	texts := f.front.Get(keyDependsOn).Items
	kept := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return gone[s] })
	if len(kept) == len(texts) {
		return nil
	}
	return f.setDependsOn(kept)
}

// DependOn adds item id to the dependencies.
func (f *File) DependOn(id item.ID) error {
	texts := f.front.Get(keyDependsOn).Items
	if slices.Contains(texts, id.String()) {
		return nil
	}
	return f.front.Append(keyDependsOn, id.String())
}
