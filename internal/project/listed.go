package project

import (
	"io/fs"
	"slices"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// listed are the entries of a directory, sorted by name, and the signature that it had before they were read.
type listed struct {
	name      string
	signature cachedfile.Signature
	entries   []fs.DirEntry
}

// maxListed is the maximum number of entries that are kept.
const maxListed = 1000

// entries lists a directory as ReadDir does, for a name without links. The last one is kept: clients list the
// same directory again and again, and its entries are the same as long as the system reports no change of the
// directory itself.
func (f *directory) entries(name string) ([]fs.DirEntry, error) {
	var now cachedfile.Signature
	at := time.Now()
	info, err := f.Lstat(name)
	if err == nil && info.IsDir() {
		now = cachedfile.SignatureOf(info)
		if last := f.last.Load(); last != nil && last.name == name && last.signature == now {
			return slices.Clone(last.entries), nil
		}
	}
	entries, err := f.ReadDir(name)
	if err == nil && now.Inode != 0 && now.Settled(at) && len(entries) <= maxListed {
		f.last.Store(&listed{name, now, slices.Clone(entries)})
	}
	return entries, err
}
