package checkup

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/remerge"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// reading is the files of a store that merge.
type reading struct {
	root *os.Root
	// space is what the items can take together, and what the deleted ones can take.
	space itemdir.Space
}

var _ remerge.Reader = reading{}

// Tree implements remerge.Reader. The error is a [*storage.StoreError] if the files take too much memory
// together.
func (r reading) Tree() (merge.Tree, error) {
	if err := r.fits(); err != nil {
		return nil, err
	}
	tree := merge.Tree{}
	read := func(name string) error {
		text, err := itemdir.ReadFile(r.root, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return &storage.ConfigError{File: name, Reason: err.Error()}
		}
		tree[name] = text
		return nil
	}
	for _, name := range []string{layout.Config, renumbered.Name} {
		if err := read(name); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{layout.Items, layout.Trash, layout.Links} {
		names, err := layout.Names(r.root, dir)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			path := dir + "/" + name
			if info, err := r.root.Lstat(path); regular.Absent(err) || err == nil && !info.Mode().IsRegular() || !isMerged(path) {
				continue // not for us
			}
			if err := read(path); err != nil {
				return nil, err
			}
		}
	}
	return tree, nil
}

// fits returns an error if the items, or the deleted ones, take too much memory together.
func (r reading) fits() error {
	for _, dir := range []string{layout.Items, layout.Trash} {
		sizes, err := itemdir.SizesIn(r.root, dir)
		if err == nil {
			err = r.space.Check(sizes.Total(), 1, sizes)
		}
		if _, large := errors.AsType[*storage.StoreError](err); large && dir == layout.Trash {
			return &storage.StoreError{
				Problem: fmt.Sprintf("the deleted items have %d bytes together, more than the %s allowed", sizes.Total(), r.space.MiB()),
				Next:    "Remove some for good with `copse item trash purge ID`.",
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isMerged reports whether a file in a directory of the store is one that merges.
func isMerged(name string) bool {
	if strings.HasPrefix(name, layout.Links+"/") {
		return strings.HasSuffix(name, layout.LinkExtension)
	}
	return strings.HasSuffix(name, ".md")
}

// Text implements remerge.Reader. The checks of items and of the trash report what cannot be read.
func (r reading) Text(name string) string {
	text, err := itemdir.ReadFile(r.root, name)
	if err != nil {
		return ""
	}
	return text
}

// Note implements remerge.Reader.
func (r reading) Note(name string) (string, error) {
	name = layout.Private + "/" + name
	text, err := regular.ReadIn(r.root, name, layout.MaxOwnFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read %q: %w", name, rooted.WithoutPath(err))
	}
	return string(text), nil
}

// rewriting is the files of a store that merge, to be changed.
type rewriting struct {
	reading
	Changing
}

var _ remerge.Files = rewriting{}

// Replace implements remerge.Files.
func (r rewriting) Replace(old, with merge.Tree) error {
	if err := r.Space(old, with); err != nil {
		return err
	}
	var files []lockedstore.File
	for _, name := range slices.Sorted(maps.Keys(with)) {
		if text := with[name]; old[name] != text {
			files = append(files, lockedstore.File{Name: name, Data: []byte(text)})
		}
	}
	for _, dir := range []string{layout.Items, layout.Trash, layout.Links, merge.ApartDir} {
		if slices.ContainsFunc(files, func(f lockedstore.File) bool { return strings.HasPrefix(f.Name, dir+"/") }) {
			if err := r.Tx.MakeDir(dir); err != nil {
				return err
			}
		}
	}
	if err := r.Tx.Write(files...); err != nil {
		return err
	}
	for name := range old {
		if _, kept := with[name]; !kept {
			if err := r.Tx.Remove(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// Restore implements remerge.Files.
func (r rewriting) Restore(id item.ID) (bool, error) {
	tree, err := r.Tree()
	if err != nil {
		return false, err
	}
	with := maps.Clone(tree)
	with[layout.Item(id)] = tree[layout.Trashed(id)]
	if err := r.Space(tree, with); err != nil {
		return false, err
	}
	err = r.Trash.Restore(id, changes.Change{})
	if storage.IsRefusal(err) {
		return false, nil
	}
	return err == nil, err
}

// SetNote implements remerge.Files.
func (r rewriting) SetNote(name, text string) error {
	name = layout.Private + "/" + name
	if text == "" {
		return r.Tx.Remove(name)
	}
	return r.Tx.Write(lockedstore.File{Name: name, Data: []byte(text)})
}
