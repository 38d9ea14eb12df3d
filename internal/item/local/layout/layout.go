// Package layout names the files in the directory of a store of work items, and reads and prepares
// single ones.
//
// The packages below item/local use it, so each file has its name in one place. [Open] reads the
// file of an item, and [File] is the file to write for one. Reading follows no symbolic link, and
// no error names a path of this machine. The package takes no lock: a process that changes a store
// holds the lock of the store.
package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// The files and directories of a store.
const (
	Config = "config.yml"
	Items  = "items"
	// Trash contains deleted items with the relations that their deletion removed from others.
	Trash = "trash"
	// Private contains files that only copse uses. Git ignores it.
	Private = ".copse"
	// Lock is the file that a process locks while it changes the store.
	Lock = Private + "/lock"
	// Ignore makes git ignore Private.
	Ignore = Private + "/.gitignore"
)

// MaxOwnFile is the size in bytes up to which a file that only copse writes is read.
const MaxOwnFile = 1 << 20

// Item returns the name of the file of an item.
func Item(id item.ID) string { return Items + "/" + itemdir.FileName(id) }

// Trashed returns the name of the file of a deleted item.
func Trashed(id item.ID) string { return Trash + "/" + itemdir.FileName(id) }

// Names returns the names in a directory of a store; none if it does not exist.
func Names(root *os.Root, dir string) ([]string, error) {
	file, err := regular.OpenDir(root, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open directory %q: %w", dir, rooted.WithoutPath(err))
	}
	defer file.Close()
	names, err := file.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("read directory %q: %w", dir, rooted.WithoutPath(err))
	}
	return names, nil
}

// Open reads the file of an item in Items or Trash. The error can be an
// [*item.NotFoundError] or a [*storage.BrokenError].
func Open(root *os.Root, dir string, id item.ID) (*ticfile.File, item.Item, error) {
	name := dir + "/" + itemdir.FileName(id)
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, item.Item{}, &item.NotFoundError{ID: id}
	}
	if err == nil {
		err = itemdir.CheckRegular(info.Mode())
	} else {
		err = itemdir.Unreadable(err)
	}
	var content *ticfile.File
	var it item.Item
	if err == nil {
		content, it, err = read(root, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, item.Item{}, &item.NotFoundError{ID: id}
	case err != nil:
		return nil, item.Item{}, &storage.BrokenError{ID: id, File: name, Reason: err.Error()}
	}
	it.ID = id
	return content, it, nil
}

func read(root *os.Root, name string) (*ticfile.File, item.Item, error) {
	text, err := itemdir.ReadFile(root, name)
	if err != nil {
		return nil, item.Item{}, err
	}
	content, err := ticfile.Parse(text)
	if err != nil {
		return nil, item.Item{}, err
	}
	it, _, err := content.Item()
	return content, it, err
}

// File returns the file of an item, to be written to Items or Trash.
func File(dir string, id item.ID, content *ticfile.File) (lockedstore.File, error) {
	text, err := content.Text()
	return lockedstore.File{Name: dir + "/" + itemdir.FileName(id), Data: []byte(text)}, err
}

// Unchangeable returns the error of an item whose file can be read, but not changed.
func Unchangeable(id item.ID, err error) error {
	return itemdir.Broken(Items, id, fmt.Errorf("cannot be changed: %w", err))
}

// Renumberings returns which items of a store got another number. A damaged file has none. An error
// means that the file cannot be seen: claims and histories under former numbers would seem to be gone.
func Renumberings(root *os.Root) ([]renumbered.Record, error) {
	text, err := itemdir.ReadFile(root, renumbered.Name)
	if regular.Unseen(err) {
		return nil, fmt.Errorf("the file %q %w", renumbered.Name, err)
	}
	return renumbered.Parse(text), nil
}
