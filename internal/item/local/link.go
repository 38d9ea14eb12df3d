package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// linksFolder has a file for each item that is linked, named after the item's time of
// birth: the original drops front matter that it does not know, and a merge can change
// the number of an item, but nothing changes its birth.
const linksFolder = "links"

const linkExtension = ".txt"

// LinkName returns the name of the file of the link of an item that was created then; false
// if that is no name for a file.
func LinkName(created string) (string, bool) { return linkName(created) }

// linkName returns the file of the link of an item that was created then; false if that is no name
// for a file.
func linkName(created string) (string, bool) {
	stamp := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, created)
	const most = 64
	return path.Join(linksFolder, stamp+linkExtension), stamp != "" && len(stamp) <= most
}

// readLink reads the link of an item that was created then. One that cannot be read
// is none: it is not part of the item.
func readLink(root *os.Root, created string) item.Link {
	name, ok := linkName(created)
	if !ok {
		return item.Link{}
	}
	text, err := itemfolder.ReadFile(root, name)
	if err != nil {
		return item.Link{}
	}
	return item.ParseLink(text)
}

// setLink changes the link of an item as a patch says.
func (w *writer) setLink(it item.Item, p item.Patch) (item.Link, error) {
	old := readLink(w.tx.Root(), it.Created)
	link := old.With(p)
	if link == old {
		return link, nil
	}
	name, ok := linkName(it.Created)
	if !ok {
		return old, &item.InvalidError{Field: "branch", Problem: fmt.Sprintf("Work item #%d cannot be linked: its file has no time of creation", it.ID)}
	}
	if link == (item.Link{}) {
		return link, w.tx.Remove(name)
	}
	if err := w.tx.MakeFolder(linksFolder); err != nil {
		return old, err
	}
	return link, w.tx.Write(lockedstore.File{Name: name, Data: []byte(link.Text(it.ID))})
}

// removeLink removes the link of an item that is gone for good.
func (w *writer) removeLink(created string) error {
	name, ok := linkName(created)
	if !ok {
		return nil
	}
	if err := w.tx.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Links returns the links of all items that have one.
func (s *Store) Links(ctx context.Context) (map[item.ID]item.Link, error) {
	f, err := s.find(ctx)
	if err != nil {
		return nil, err
	}
	root, err := f.dir.Open()
	if err != nil {
		return nil, fmt.Errorf("open the store: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	names, err := readNames(root, linksFolder)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	linked := make(map[string]bool, len(names))
	for _, name := range names {
		linked[path.Join(linksFolder, name)] = true
	}
	snapshot, err := f.snapshot()
	if err != nil {
		return nil, err
	}
	links := map[item.ID]item.Link{}
	for _, it := range snapshot.List(item.Config{}, item.Filter{All: true}) {
		if name, ok := linkName(it.Created); ok && linked[name] {
			links[it.ID] = readLink(root, it.Created)
		}
	}
	return links, nil
}
