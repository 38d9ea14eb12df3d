package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

// movedName names the store to which the items were moved. A store with this file accepts no
// changes.
const movedName = layout.Private + "/moved"

// Histories are the changes of items, the latest last.
type Histories map[item.ID][]item.Change

// Leave calls do with all files of the store, and the histories of its items, while nobody else
// changes it, and records the store that do returns as the new place of the items.
func (s *Store) Leave(ctx context.Context, do func(exchange.Files, Histories) (to string, err error)) error {
	return s.keep(ctx, func(w *writer) error {
		files, histories, err := w.everything()
		if err != nil {
			return err
		}
		to, err := do(files, histories)
		if err != nil {
			return err
		}
		return w.tx.Write(lockedstore.File{Name: movedName, Data: []byte(cleantext.Line(to) + "\n")})
	})
}

// Enter replaces the files and histories of the store with those that decide returns, while nobody
// else changes it. decide gets the current ones, and whether the items were moved to another store.
// If so, the files here are no longer in use.
func (s *Store) Enter(ctx context.Context, decide func(files exchange.Files, h Histories, moved bool) (exchange.Files, Histories, error)) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return f.locked.Change(ctx, func(tx *lockedstore.Tx) error {
		w := &writer{directory: f, tx: tx, entering: true}
		if err := w.prepare(); err != nil {
			return err
		}
		before, had, err := w.everything()
		if err != nil {
			return err
		}
		_, moved := f.movedTo()
		after, has, err := decide(maps.Clone(before), had, moved)
		if err != nil {
			return err
		}
		note, err := exchange.Note(w.tx.Root())
		if err != nil {
			return err
		}
		if err := errors.Join(w.writeHistories(after, has), exchange.Replace(w.tx, before, after, note)); err != nil || !moved {
			return err
		}
		return w.tx.Remove(movedName)
	})
}

// View calls do with all files of the store, and the histories of its items, while nobody
// else changes it.
func (s *Store) View(ctx context.Context, do func(exchange.Files, Histories) error) error {
	return s.keep(ctx, func(w *writer) error {
		files, histories, err := w.everything()
		if err != nil {
			return err
		}
		return do(files, histories)
	})
}

// everything returns all files of the store, without those of histories, and the histories.
func (w *writer) everything() (exchange.Files, Histories, error) {
	files, err := exchange.Read(w.tx.Root())
	if err != nil {
		return nil, nil, err
	}
	histories := Histories{}
	for name := range files {
		if w.history.Has(name) {
			delete(files, name)
			continue
		}
		id, err := item.ParseID(strings.TrimSuffix(path.Base(name), ".md"))
		if dir := path.Dir(name); err != nil || dir != layout.Items && dir != layout.Trash {
			continue
		}
		_, it, err := layout.Open(w.tx.Root(), path.Dir(name), id)
		if err != nil {
			continue // it is reported where it is read
		}
		log, err := w.history.Of(w.tx.Root(), &it)
		if err != nil {
			return nil, nil, err
		}
		if len(log.Changes) > 0 {
			histories[id] = log.Changes
		}
	}
	return files, histories, nil
}

// writeHistories writes the histories of items, whose files tell when they were created. What
// is left of them after a crash is overwritten when the move is repeated.
func (w *writer) writeHistories(files exchange.Files, histories Histories) error {
	var written []lockedstore.File
	for name, text := range files {
		id, err := item.ParseID(strings.TrimSuffix(path.Base(name), ".md"))
		if dir := path.Dir(name); err != nil || len(histories[id]) == 0 || dir != layout.Items && dir != layout.Trash {
			continue
		}
		content, err := ticfile.Parse(text)
		if err != nil {
			return err
		}
		it, _, err := content.Item()
		if err != nil {
			return err
		}
		it.ID = id
		file, err := w.history.File(w.tx, &it.Summary, histories[id])
		if err != nil {
			return err
		}
		written = append(written, file)
	}
	if len(written) == 0 {
		return nil
	}
	return w.tx.Write(written...)
}

// movedTo returns the store that the items were moved to, false if they are here.
func (f *directory) movedTo() (string, bool) {
	root, err := f.Root()
	if err != nil {
		return "", false
	}
	defer root.Close()
	text, err := regular.ReadIn(root, movedName, layout.MaxOwnFile)
	if err != nil {
		return "", false
	}
	return cleantext.Cut(strings.TrimSpace(cleantext.Line(string(text))), 200), true
}

// checkMoved returns an error if the items were moved to another store.
func (f *directory) checkMoved() error {
	to, moved := f.movedTo()
	if !moved {
		return nil
	}
	return &item.StoreError{
		Problem: "the items of this project were moved to " + to,
		Next:    "Set COPSE_ITEMS, or items.database in your settings, to that address.",
	}
}

// movedWarning warns that the files are outdated.
func (f *directory) movedWarning() []item.Warning {
	to, moved := f.movedTo()
	if !moved {
		return nil
	}
	return []item.Warning{{File: layout.Config, Reason: fmt.Sprintf("is of a copy that no longer changes: the items were moved to %s; set COPSE_ITEMS or items.database", to)}}
}
