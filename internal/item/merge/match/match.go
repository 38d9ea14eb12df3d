// Package match reads the three trees of a merge of work items, and finds out which of their items
// are the same: by birth, which is the creation time and the first number of an item. Equal numbers
// alone prove nothing.
package match

import (
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// Names in a tree.
const (
	ConfigName = "config.yml"
	ItemsDir   = "items"
	TrashDir   = "trash"
	LinksDir   = "links"
	Extension  = ".md"
)

// Tree is the files of a store: text by name, relative to the store and with slashes.
type Tree map[string]string

// Side is one of the trees.
type Side struct {
	Tree     Tree
	Versions []*Version
	Others   []string // names of files that are not items
	Config   *ticfile.Config
	Records  []renumbered.Record
	Numbers  map[item.ID]*Version // the item that a number means
}

// Version is an item in one tree.
type Version struct {
	Side    int // its place in Items.Sides
	ID      item.ID
	Trashed bool
	Text    string
	File    *ticfile.File
	Item    item.Item
	Key     Key // set by Find
}

// Name returns the name of the file.
func (v *Version) Name() string {
	directory := ItemsDir
	if v.Trashed {
		directory = TrashDir
	}
	return directory + "/" + v.ID.String() + Extension
}

// Load reads a tree. The error is about its configuration.
func Load(tree Tree) (Side, error) {
	s := Side{Tree: tree, Numbers: map[item.ID]*Version{}}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		switch name {
		case ConfigName, renumbered.Name:
			continue
		}
		if v := Read(name, tree[name]); v != nil {
			s.Versions = append(s.Versions, v)
			if s.Numbers[v.ID] == nil || !v.Trashed {
				s.Numbers[v.ID] = v
			}
			continue
		}
		s.Others = append(s.Others, name)
	}
	s.Records = renumbered.Parse(tree[renumbered.Name])
	text, ok := tree[ConfigName]
	if !ok {
		return s, nil
	}
	var err error
	s.Config, err = ticfile.ParseConfig(text)
	return s, err
}

// NumberOf returns the number that the name of a file is for.
func NumberOf(name string) (id item.ID, trashed, ok bool) {
	directory, file, found := strings.Cut(name, "/")
	if !found || directory != ItemsDir && directory != TrashDir || !strings.HasSuffix(file, Extension) {
		return 0, false, false
	}
	id, err := item.ParseID(strings.TrimSuffix(file, Extension))
	return id, directory == TrashDir, err == nil
}

// Read reads the file of an item; nil if it is none that can be merged.
func Read(name, text string) *Version {
	id, trashed, ok := NumberOf(name)
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
	return &Version{ID: id, Trashed: trashed, Text: text, File: file, Item: it}
}
