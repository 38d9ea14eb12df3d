package itemfolder

import (
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// file is one file of the folder.
type file struct {
	id       item.ID     // that its name says; 0 if none
	whole    bool        // it has an item
	entry    *item.Entry // of the item, until the snapshot has it
	inner    item.ID     // that its content says; 0 if none
	problems []string
	stamp    stamp
	settled  bool
}

// misnamed reports whether the content says another number than the name.
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

// unmerged reads a file with two versions that git could not merge. Lists show both
// until they are merged; the item cannot be used.
func unmerged(name, text string) *file {
	f := broken(name, ticfile.ErrConflict)
	ourText, theirText, ok := ticfile.Versions(text)
	ours, ourErr := summary(ourText)
	theirs, theirErr := summary(theirText)
	if !ok || ourErr != nil || theirErr != nil || f.id == 0 {
		return f
	}
	ours.ID = f.id
	if title := ours.Title; title == theirs.Title {
		ours.Title = title + " (unmerged)"
	} else {
		ours.Title = fmt.Sprintf("%s (ours) | %s (theirs) (unmerged)", title, theirs.Title)
	}
	f.entry = item.NewEntry(&ours)
	return f
}

func summary(text string) (item.Item, error) {
	content, err := ticfile.Parse(text)
	if err != nil {
		return item.Item{}, err
	}
	it, _, err := content.Item()
	return it, err
}

func broken(name string, err error) *file {
	f := &file{problems: []string{err.Error()}}
	f.id, _ = Number(name)
	return f
}

const extension = ".md"

// Number is the number of the item that a file name is for.
func Number(name string) (item.ID, error) {
	id, err := item.ParseID(strings.TrimSuffix(name, extension))
	if err != nil {
		return 0, errors.New("is not named after a number, as 3.md is, and is not used")
	}
	return id, nil
}

// FileName is the name of the file of an item.
func FileName(id item.ID) string { return id.String() + extension }

// Broken is the error for an item whose file, in the folder of that name, cannot be
// used.
func Broken(folder string, id item.ID, err error) error {
	return &item.BrokenError{ID: id, File: folder + "/" + FileName(id), Reason: err.Error()}
}
