package writer

import (
	"fmt"
	"path"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// MarkName has the mark of a store whose items move. Git versions the file, and a sync exchanges it,
// so other worktrees and clones notice a move.
const MarkName = "moved"

// Histories are the changes of items, the latest last.
type Histories map[item.ID][]changes.Change

// Mark returns why the store accepts no changes, if it does not. An error means that the file cannot be seen.
func (f *Directory) Mark() (moved.Mark, error) {
	root, err := f.Root()
	if err != nil {
		return moved.Mark{}, err
	}
	defer root.Close()
	text, err := regular.ReadIn(root, MarkName, layout.MaxOwnFile)
	switch {
	case regular.Unseen(err):
		return moved.Mark{}, fmt.Errorf("read %q, which says whether the items have moved: %w", MarkName, rooted.WithoutPath(err))
	case err != nil:
		return moved.Mark{}, nil // there is none
	}
	return moved.Parse(string(text)), nil
}

// SetMark records why the store accepts no changes.
func (w *Writer) SetMark(m moved.Mark) error {
	return w.Tx.Write(lockedstore.File{Name: MarkName, Data: []byte(m.String() + "\n")})
}

// ClearMark lets the store accept changes again.
func (w *Writer) ClearMark() error { return w.Tx.Remove(MarkName) }

// Everything returns all files of the store, without those of histories and the mark of a move, and
// the histories.
func (w *Writer) Everything() (exchange.Files, Histories, error) {
	files, err := exchange.Read(w.Tx.Root())
	if err != nil {
		return nil, nil, err
	}
	delete(files, MarkName)
	histories := Histories{}
	for name := range files {
		if w.History.Has(name) {
			delete(files, name)
			continue
		}
		id, err := item.ParseID(strings.TrimSuffix(path.Base(name), ".md"))
		if dir := path.Dir(name); err != nil || dir != layout.Items && dir != layout.Trash {
			continue
		}
		_, it, err := layout.Open(w.Tx.Root(), path.Dir(name), id)
		if err != nil {
			continue // it is reported where it is read
		}
		log, err := w.History.Of(w.Tx.Root(), &it)
		if err != nil {
			return nil, nil, err
		}
		if len(log.Changes) > 0 {
			histories[id] = log.Changes
		}
	}
	return files, histories, nil
}

// WriteHistories writes the histories of items, whose files tell when they were created. What
// is left of them after a crash is overwritten when the move is repeated.
func (w *Writer) WriteHistories(files exchange.Files, histories Histories) error {
	var written []lockedstore.File
	for name, text := range files {
		id, err := item.ParseID(strings.TrimSuffix(path.Base(name), ".md"))
		if dir := path.Dir(name); err != nil || len(histories[id]) == 0 || dir != layout.Items && dir != layout.Trash {
			continue
		}
		it, err := ticfile.Read(text)
		if err != nil {
			return err
		}
		it.ID = id
		file, err := w.History.File(w.Tx, &it.Summary, histories[id])
		if err != nil {
			return err
		}
		written = append(written, file)
	}
	if len(written) == 0 {
		return nil
	}
	return w.Tx.Write(written...)
}
