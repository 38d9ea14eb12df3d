// Package driver implements git's merge driver: it merges a single file of a store.
package driver

import (
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// ErrApart reports that two versions of a file are, or can be, of different items. One file cannot
// keep both.
var ErrApart = errors.New("two items have this number, or git takes one item for another; run `copse item doctor --repair`")

// ErrDeleted reports that one side deleted an item and the other changed it. It is kept, which
// takes a file other than the deleted one.
var ErrDeleted = errors.New("one side deleted this item and the other changed it; run `copse item doctor --repair`")

// ErrUnmergeable reports that an item cannot have the changes of both sides.
var ErrUnmergeable = errors.New("the item would be too large with the changes of both sides; run `copse item doctor --repair`")

// Merge merges one file of a store, as a merge driver of git must: it sees no other file. config is
// the configuration, "" if it is unknown. The error is [ErrApart] or [ErrDeleted], or reports that
// a version is not such a file; then nothing is merged.
func Merge(name, base, ours, theirs, config string) (string, error) {
	trees := [3]merge.Tree{{}, {}, {}}
	for i, text := range []string{base, ours, theirs} {
		if _, _, isItem := match.NumberOf(name); text != "" || i > 0 {
			if isItem && match.Read(name, text) == nil {
				return "", errors.New("is not a readable work item")
			}
			trees[i][name] = text
		}
		if config != "" && name != merge.ConfigName {
			trees[i][merge.ConfigName] = config
		}
	}
	if base != "" && (!isVersion(name, base, ours) || !isVersion(name, base, theirs)) {
		return "", ErrApart
	}
	if _, trashed, _ := match.NumberOf(name); trashed && deletedOnce(base, ours, theirs) {
		return "", ErrDeleted
	}
	r, err := merge.Stores(trees[0], trees[1], trees[2], merge.Options{})
	if err != nil {
		return "", err
	}
	for other := range r.Tree {
		if strings.HasPrefix(other, merge.ApartDir+"/") {
			return "", ErrUnmergeable
		}
		if other != name && other != merge.ConfigName {
			return "", ErrApart
		}
	}
	return r.Tree[name], nil
}

// isVersion reports whether the item of a text is without doubt that of base: it was created at the
// same time, and has its number or its title. Git takes a new number of an item for a new name of its
// file, and then another item with the old number for a version of it. Files that are not items are
// versions of each other.
func isVersion(name, base, text string) bool {
	a, b := match.Read(name, base), match.Read(name, text)
	if a == nil || b == nil {
		return true
	}
	was, _, wasErr := a.File.Item() // with the number in the text
	is, _, isErr := b.File.Item()
	return wasErr == nil && isErr == nil && was.Created == is.Created && (was.ID == is.ID || was.Title == is.Title)
}

// deletedOnce reports whether one side deleted an item of base and the other changed it.
func deletedOnce(base, ours, theirs string) bool {
	var at [3]string
	for i, text := range []string{base, ours, theirs} {
		file, err := ticfile.Parse(text)
		if err != nil {
			return false
		}
		at[i] = file.Deleted()
	}
	return at[0] == "" && (at[1] == "" && at[2] != "" && ours != base || at[1] != "" && at[2] == "" && theirs != base)
}

// BothVersions returns a file that could not be merged, with both versions between the marks that
// git itself uses.
func BothVersions(ours, theirs string) string {
	ended := func(s string) string {
		if s == "" || strings.HasSuffix(s, "\n") {
			return s
		}
		return s + "\n"
	}
	return fmt.Sprintf("<<<<<<< ours\n%s=======\n%s>>>>>>> theirs\n", ended(ours), ended(theirs))
}

// Name is what git calls the merge driver.
const Name = "copse-items"

// Attributes is the file of a store that tells git which files the driver merges. The records of
// changed numbers are separate lines, which git can merge without it.
const Attributes = `# Work items merge field by field. Git never clones the configuration of a merge
# driver: run "copse item init --merge-driver" once in each clone.
` + merge.ConfigName + ` merge=` + Name + `
` + merge.ItemsDir + `/*.md merge=` + Name + `
` + merge.TrashDir + `/*.md merge=` + Name + `
` + merge.LinksDir + `/*.txt merge=` + Name + `
` + renumbered.Name + ` merge=union
`

// WithAttributes returns a file of attributes with the lines of Attributes. They are the
// last, because of two rules for a file git takes the later one. Other lines stay.
func WithAttributes(old string) string {
	own := map[string]bool{}
	for line := range strings.Lines(Attributes) {
		own[strings.TrimSpace(line)] = true
	}
	var b strings.Builder
	for line := range strings.Lines(old) {
		if !own[strings.TrimSpace(line)] {
			b.WriteString(line)
		}
	}
	if kept := b.String(); kept != "" && !strings.HasSuffix(kept, "\n") {
		b.WriteString("\n")
	}
	return b.String() + Attributes
}
