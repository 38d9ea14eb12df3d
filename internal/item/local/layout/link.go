package layout

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/linkfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// Links has a file for each linked item. It is named after the item's creation time: the
	// original program drops unknown front matter, and a merge can change the number of an item,
	// but nothing changes its creation time.
	Links = "links"
	// LinkExtension ends the names of those files.
	LinkExtension = ".txt"
)

// LinkName returns the name of the file with the link of an item that was created at a time;
// false if the time cannot name a file.
func LinkName(created string) (string, bool) {
	stamp := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, created)
	const maximum = 64
	return path.Join(Links, stamp+LinkExtension), stamp != "" && len(stamp) <= maximum
}

// ReadLink returns the link of an item that was created at a time. An unreadable link counts as
// none: it is not part of the item.
func ReadLink(root *os.Root, created string) item.Link {
	link, _ := readLink(root, created)
	return link
}

// readLink returns the link. An error means that the file cannot be seen.
func readLink(root *os.Root, created string) (item.Link, error) {
	name, ok := LinkName(created)
	if !ok {
		return item.Link{}, nil
	}
	text, err := itemdir.ReadFile(root, name)
	if regular.Unseen(err) {
		return item.Link{}, fmt.Errorf("the link %q %w", name, err)
	}
	return linkfile.Parse(text), nil
}

// WriteLink changes the link of an item as a patch says, and returns the link.
func WriteLink(tx *lockedstore.Tx, it item.Item, p item.Patch) (item.Link, error) {
	old, unread := readLink(tx.Root(), it.Created)
	link := old.With(p)
	if link == old || unread != nil {
		return link, unread // a change of one part of the link keeps the others
	}
	name, ok := LinkName(it.Created)
	if !ok {
		return old, &item.InvalidError{Field: "branch", Problem: fmt.Sprintf("Work item #%d cannot be linked: its file has no creation time", it.ID)}
	}
	if link == (item.Link{}) {
		return link, tx.Remove(name)
	}
	if err := tx.MakeDir(Links); err != nil {
		return old, err
	}
	return link, tx.Write(lockedstore.File{Name: name, Data: []byte(linkfile.Text(link, it.ID))})
}

// RemoveLink removes the link of an item that is gone for good.
func RemoveLink(tx *lockedstore.Tx, created string) error {
	name, ok := LinkName(created)
	if !ok {
		return nil
	}
	if err := tx.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
