package writer

import (
	"fmt"
	"os"
	"path"
	"strings"

	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// usedName is the note of a large store: how many bytes its items take together, and when the
	// directory of items had changed last. It saves a process that has not read the items from looking
	// at all files.
	usedName = layout.Private + "/used"
	// maxUsed is the size in bytes up to which the note is read.
	maxUsed = 64
	// manyFiles is the number of files from which a store has the note.
	manyFiles = 200
	// trustedShare is the part of the space, one in this number, up to which the note is believed. A
	// file that was changed in place leaves the note as it is.
	trustedShare = 2
	// relationSize is more than what the file of an item grows by for a relation to another.
	relationSize = 64
)

// usage is how many bytes the items take after a change.
type usage struct {
	bytes int64
	note  bool // for the next process
}

// checkSpace returns a [*storage.StoreError] if the items have no space after files are written.
func (w *Writer) checkSpace(files ...lockedstore.File) error {
	var more int64
	for _, f := range files {
		if path.Dir(f.Name) == layout.Items {
			more += int64(len(f.Data)) - itemdir.SizeOf(w.Tx.Root(), f.Name)
		}
	}
	return w.checkGrowth(more)
}

// checkGrowth returns a [*storage.StoreError] if the items cannot take more bytes. It looks at all
// files only if nothing else can tell.
func (w *Writer) checkGrowth(more int64) error {
	w.will = usage{}
	if used, ok := w.Used(); ok && w.Space().Allows(used+more, more) {
		return nil
	}
	if noted, ok := w.noted(); ok && w.Space().Allows(trustedShare*(noted+more), more) {
		w.will = usage{noted + more, true}
		return nil
	}
	if more <= 0 {
		return nil
	}
	sizes, err := itemdir.SizesIn(w.Tx.Root(), layout.Items)
	if err != nil {
		return err
	}
	total := sizes.Total() + more
	w.will = usage{total, len(sizes) >= manyFiles}
	return w.Space().Check(total, more, sizes)
}

// CheckFiles returns a [*storage.StoreError] if files that replace those of before have no space.
func (w *Writer) CheckFiles(before, after exchange.Files) error {
	sizes := sizesOf(after)
	total := sizes.Total()
	return w.Space().Check(total, total-sizesOf(before).Total(), sizes)
}

func sizesOf(files exchange.Files) itemdir.Sizes {
	sizes := itemdir.Sizes{}
	for name, text := range files {
		if dir, file := path.Split(name); dir == layout.Items+"/" && strings.HasSuffix(file, ".md") {
			sizes[file] = int64(len(text))
		}
	}
	return sizes
}

// noted returns what the items take according to the note; ok is false if there is none, or the
// directory has changed since.
func (w *Writer) noted() (bytes int64, ok bool) {
	text, err := regular.ReadIn(w.Tx.Root(), usedName, maxUsed)
	if err != nil {
		return 0, false
	}
	var used, noted int64
	if n, err := fmt.Sscanf(string(text), "%d %d\n", &used, &noted); n != 2 || err != nil {
		return 0, false
	}
	changed, err := w.itemsChanged()
	return used, err == nil && changed == noted && used >= 0
}

// noteUsed notes what the items take after the change that was checked last. The note is only a help: a
// change never fails because of it.
func (w *Writer) noteUsed() {
	if !w.will.note {
		return
	}
	changed, err := w.itemsChanged()
	if err != nil {
		return
	}
	if info, err := w.Tx.Root().Lstat(usedName); err == nil && !info.Mode().IsRegular() {
		return
	}
	file, err := w.Tx.Root().OpenFile(usedName, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o666)
	if err != nil {
		return
	}
	_, _ = fmt.Fprintf(file, "%d %d\n", w.will.bytes, changed)
	_ = file.Close()
}

// itemsChanged returns when a file was last put into the directory of items, or removed.
func (w *Writer) itemsChanged() (int64, error) {
	info, err := w.Tx.Root().Lstat(layout.Items)
	if err != nil {
		return 0, err
	}
	return info.ModTime().UnixNano(), nil
}
