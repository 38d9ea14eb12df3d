package itemdir

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cachedfile"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// file is one file of the directory.
type file struct {
	id       item.ID     // that its name says; 0 if none
	whole    bool        // it has an item
	entry    *item.Entry // of the item, until the snapshot has it
	inner    item.ID     // that its content says; 0 if none
	problems []string
	stamp    cachedfile.Signature
	settled  bool
	kept     bool  // it came from the cache
	bytes    int64 // the size of the content that was read
	noSpace  bool  // the other files left no space for it
}

// held returns how much of the space for all files this one takes.
func (f *file) held() int64 {
	if f == nil {
		return 0
	}
	return f.bytes
}

// without returns 1 if there was no space for the file, otherwise 0.
func (f *file) without() int {
	if f.noSpace {
		return 1
	}
	return 0
}

// misnamed reports whether the number in the content differs from that in the name.
func (f *file) misnamed() bool { return f.inner != f.id && f.inner != 0 }

// parse reads the content of a file.
func parse(name, text string) *file {
	content, err := ticfile.Parse(text)
	if errors.Is(err, ticfile.ErrConflict) {
		return unmerged(name, text)
	}
	if err != nil {
		return broken(name, err)
	}
	it, problems, err := content.Item()
	if err != nil {
		return broken(name, err)
	}
	f := &file{inner: it.ID, problems: problems}
	if f.id, err = Number(name); err != nil {
		if f.inner == 0 {
			f.problems = append(f.problems, err.Error())
		}
		return f
	}
	it.ID = f.id
	f.entry, f.whole = item.NewEntry(&it), true
	return f
}

// unmerged reads a file with two versions that git could not merge. Lists show both until they are
// merged; the item cannot change.
func unmerged(name, text string) *file {
	f := broken(name, ticfile.ErrConflict)
	ours, theirs, ok := versions(text)
	if !ok || f.id == 0 {
		return f
	}
	ours.ID, ours.Title = f.id, bothTitles(ours.Title, theirs.Title)
	f.entry = item.NewEntry(&ours)
	return f
}

// Unmerged returns both versions of an item as one, for a reader: differing values appear as ours
// and theirs, marked. ok is false if the text is not that of an unfinished merge.
func Unmerged(id item.ID, text string) (it item.Item, ok bool) {
	ours, theirs, ok := versions(text)
	if !ok {
		return item.Item{}, false
	}
	it = ours
	it.ID, it.Title = id, bothTitles(ours.Title, theirs.Title)
	for _, field := range []struct {
		to     *string
		theirs string
	}{
		{&it.Type, theirs.Type},
		{&it.Status, theirs.Status},
		{&it.Priority, theirs.Priority},
		{&it.Iteration, theirs.Iteration},
		{&it.Assignee, theirs.Assignee},
		{&it.Updated, theirs.Updated},
	} {
		*field.to = both(*field.to, field.theirs)
	}
	if !slices.Equal(ours.Labels, theirs.Labels) {
		it.Labels = nil
		ourLabels, theirLabels := distinct.Of(ours.Labels...), distinct.Of(theirs.Labels...)
		for _, label := range ours.Labels {
			if !theirLabels.Has(label) {
				label += " (ours)"
			}
			it.Labels = append(it.Labels, label)
		}
		for _, label := range theirs.Labels {
			if !ourLabels.Has(label) {
				it.Labels = append(it.Labels, label+" (theirs)")
			}
		}
	}
	var differences []string
	if ours.Parent != theirs.Parent {
		differences = append(differences, fmt.Sprintf("Parent: %s (ours) | %s (theirs)", reference(ours.Parent), reference(theirs.Parent)))
	}
	if !slices.Equal(ours.DependsOn, theirs.DependsOn) {
		differences = append(differences, fmt.Sprintf("Depends on: %s (ours) | %s (theirs)", reference(ours.DependsOn...), reference(theirs.DependsOn...)))
	}
	if ours.Description != theirs.Description {
		differences = append(differences, fmt.Sprintf("Description (ours):\n\n%s", ours.Description), fmt.Sprintf("Description (theirs):\n\n%s", theirs.Description))
	} else if len(differences) > 0 && ours.Description != "" {
		differences = append(differences, ours.Description)
	}
	if len(differences) > 0 {
		it.Description = strings.Join(differences, "\n\n")
	}
	it.Comments = append(slices.Clone(ours.Comments), distinct.Without(theirs.Comments, ours.Comments)...)
	return it, true
}

func both(ours, theirs string) string {
	if ours == theirs {
		return ours
	}
	return fmt.Sprintf("%s (ours) | %s (theirs)", cmp.Or(ours, "none"), cmp.Or(theirs, "none"))
}

func bothTitles(ours, theirs string) string { return both(ours, theirs) + " (unmerged)" }

func reference(ids ...item.ID) string {
	var list []string
	for _, id := range ids {
		if id != 0 {
			list = append(list, "#"+id.String())
		}
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}

// versions reads the two versions of an item that git could not merge.
func versions(text string) (ours, theirs item.Item, ok bool) {
	ourText, theirText, ok := ticfile.Versions(text)
	ours, ourErr := ticfile.Read(ourText)
	theirs, theirErr := ticfile.Read(theirText)
	return ours, theirs, ok && ourErr == nil && theirErr == nil
}

func broken(name string, err error) *file {
	f := &file{problems: []string{err.Error()}}
	f.id, _ = Number(name)
	return f
}

const extension = ".md"

// Number returns the number of the item that a file name is for.
func Number(name string) (item.ID, error) {
	id, err := item.ParseID(strings.TrimSuffix(name, extension))
	if err != nil {
		return 0, errors.New("is not named after a number, as in 3.md, so copse ignores it")
	}
	return id, nil
}

// FileName returns the name of the file of an item.
func FileName(id item.ID) string { return id.String() + extension }

// Broken returns the error for an item whose file, in the directory of that name, cannot be used.
func Broken(directory string, id item.ID, err error) error {
	return &storage.BrokenError{ID: id, File: directory + "/" + FileName(id), Reason: err.Error()}
}
