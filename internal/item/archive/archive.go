// Package archive represents the complete content of a store of work items as one value, so that
// another kind of store can import it.
//
// [Read] returns an [Archive] of the files of a store, and [Archive.Write] returns the files of
// one. Nothing is lost: data outside the fields of an item, such as people's keys and comments in
// its file, is kept as the text of the file. Two archives are the same if [Archive.Compare] finds
// no difference.
package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
)

// Archive is the content of a store.
type Archive struct {
	Config item.Config
	// ConfigText is the configuration file, "" if it contains nothing but Config.
	ConfigText string
	// Records are the items, including deleted ones, by number.
	Records []Record
	// Files are the other files of the store, by name.
	Files map[string]string
}

// Record is the complete data of an item in a store.
type Record struct {
	item.Item
	// InTrash means that the item is deleted: at Deleted, if that is known. Then LostChildren and
	// LostDependents are the relations that the deletion removed from others.
	InTrash        bool
	Deleted        string
	LostChildren   []item.ID
	LostDependents []item.ID
	// History are its changes, the latest last.
	History []changes.Change
	// Text is the file of the item, "" if it contains nothing but the fields.
	Text string
}

// Count describes the size of an archive for people.
func (a Archive) Count() string {
	deleted, comments := 0, 0
	for _, r := range a.Records {
		if r.InTrash {
			deleted++
		}
		comments += len(r.Comments)
	}
	return fmt.Sprintf("%s, %s, %s", cleantext.Count(len(a.Records)-deleted, "item"), cleantext.Count(deleted, "deleted item"), cleantext.Count(comments, "comment"))
}

// Empty reports whether the store never had an item.
func (a Archive) Empty() bool { return len(a.Records) == 0 && a.Config.NextID <= 1 }

// Compare returns an error that names the first difference between two archives.
func (a Archive) Compare(b Archive) error {
	if len(a.Records) != len(b.Records) {
		return fmt.Errorf("one store has %s, the other %s", a.Count(), b.Count())
	}
	if one, other := configForm(a), configForm(b); one != other {
		return errors.New("the configurations differ")
	}
	for i := range a.Records {
		if one, other := a.Records[i].form(), b.Records[i].form(); one != other {
			return fmt.Errorf("work item #%d differs", a.Records[i].ID)
		}
	}
	if !maps.Equal(a.Files, b.Files) {
		return errors.New("the other files differ")
	}
	return nil
}

// form returns the record as a text that is the same for the same content.
func (r Record) form() string {
	for _, list := range []*[]item.ID{&r.DependsOn, &r.LostChildren, &r.LostDependents} {
		*list = append([]item.ID{}, *list...)
	}
	r.Labels = append([]string{}, r.Labels...)
	r.Comments = append([]item.Comment{}, r.Comments...)
	r.History = append([]changes.Change{}, r.History...)
	r.Former = append([]item.Former{}, r.Former...)
	text, err := json.Marshal(r)
	if err != nil { // these types always encode
		return err.Error()
	}
	return string(text)
}

func configForm(a Archive) string {
	c := a.Config
	return fmt.Sprintf("%q %q %q %q %q %d %q", c.Types, c.Statuses, c.DoneStatuses, c.Iterations, c.CurrentIteration, c.NextID, a.ConfigText)
}

// check refuses data that another store could not import.
func (a Archive) check() error {
	for _, r := range a.Records {
		if !utf8.ValidString(r.Text) || !utf8.ValidString(r.Description) || !utf8.ValidString(r.Title) ||
			slices.ContainsFunc(r.Comments, func(c item.Comment) bool { return !utf8.ValidString(c.Body) || !utf8.ValidString(c.Author) }) {
			return fmt.Errorf("work item #%d is not valid text; correct its file first", r.ID)
		}
	}
	for name, text := range a.Files {
		if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			return fmt.Errorf("the file %s is not valid text; remove it first", name)
		}
	}
	return nil
}
