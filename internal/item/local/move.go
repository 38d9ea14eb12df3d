package local

import (
	"context"
	"errors"
	"maps"
	"path"
	"strings"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

// movedName has the mark of a store whose items move. Git versions the file, and a sync exchanges it,
// so other worktrees and clones notice a move.
const movedName = "moved"

// Histories are the changes of items, the latest last.
type Histories map[item.ID][]changes.Change

// Leave calls do with all files of the store, and the histories of its items, while nobody else
// changes it, and records the store that do returns as the new place of the items. A store that was
// left is left again only for unfinished, the place of an interrupted move; "" for none.
func (s *Store) Leave(ctx context.Context, unfinished string, do func(exchange.Files, Histories) (to string, err error)) error {
	return s.moving(ctx, func(w *writer, m moved.Mark) error {
		if err := m.Err(); err != nil && !m.Is(moved.Mark{To: unfinished}) {
			return err
		}
		files, histories, err := w.everything()
		if err != nil {
			return err
		}
		to, err := do(files, histories)
		if err != nil {
			return err
		}
		return w.mark(moved.Mark{To: to})
	})
}

// Enter replaces the files and histories of the store with those that decide returns, while nobody
// else changes it. decide gets the current ones, and whether they are no longer in use, because the
// items were moved to another store, or an earlier move to this one was interrupted. The store
// accepts changes after [Store.Arrive]. The files came from the store with the name from.
func (s *Store) Enter(ctx context.Context, from string, decide func(files exchange.Files, h Histories, unused bool) (exchange.Files, Histories, error)) error {
	return s.moving(ctx, func(w *writer, m moved.Mark) error {
		before, had, err := w.everything()
		if err != nil {
			return err
		}
		after, has, err := decide(maps.Clone(before), had, m != moved.Mark{})
		if err != nil {
			return err
		}
		note, err := exchange.Note(w.tx.Root())
		if err != nil {
			return err
		}
		if err := w.mark(moved.Mark{From: from}); err != nil {
			return err
		}
		if err := w.writeHistories(after, has); err != nil {
			return err
		}
		return exchange.Replace(w.tx, before, after, note)
	})
}

// Arriving reports whether a move from another store has not ended.
func (s *Store) Arriving(ctx context.Context) (bool, error) {
	f, err := s.find(ctx)
	if errors.Is(err, storage.ErrNoProject) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return f.moveMark().From != "", nil
}

// Arrive ends a move from another store, which accepts no more changes.
func (s *Store) Arrive(ctx context.Context) error {
	return s.moving(ctx, func(w *writer, m moved.Mark) error {
		if m.From == "" {
			return m.Err()
		}
		return w.tx.Remove(movedName)
	})
}

// moving calls do with a writer and the mark of the store, which the caller must obey.
func (s *Store) moving(ctx context.Context, do func(*writer, moved.Mark) error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return f.locked.Change(ctx, func(tx *lockedstore.Tx) error {
		w := &writer{directory: f, tx: tx, moving: true}
		if err := w.prepare(); err != nil {
			return err
		}
		return do(w, f.moveMark())
	})
}

// mark records why the store accepts no changes.
func (w *writer) mark(m moved.Mark) error {
	return w.tx.Write(lockedstore.File{Name: movedName, Data: []byte(m.String() + "\n")})
}

// View calls do with all files of the store, and the histories of its items, while nobody
// else changes it.
func (s *Store) View(ctx context.Context, do func(exchange.Files, Histories) error) error {
	return s.moving(ctx, func(w *writer, _ moved.Mark) error {
		files, histories, err := w.everything()
		if err != nil {
			return err
		}
		return do(files, histories)
	})
}

// everything returns all files of the store, without those of histories and the mark of a move, and
// the histories.
func (w *writer) everything() (exchange.Files, Histories, error) {
	files, err := exchange.Read(w.tx.Root())
	if err != nil {
		return nil, nil, err
	}
	delete(files, movedName)
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

// Moved returns the store that the items were moved to, "" if they are here.
func (s *Store) Moved(ctx context.Context) (to string, err error) {
	f, err := s.find(ctx)
	if err != nil {
		return "", err
	}
	return f.moveMark().To, nil
}

// moveMark returns the mark of the store.
func (f *directory) moveMark() moved.Mark {
	root, err := f.Root()
	if err != nil {
		return moved.Mark{}
	}
	defer root.Close()
	text, err := regular.ReadIn(root, movedName, layout.MaxOwnFile)
	if err != nil {
		return moved.Mark{}
	}
	return moved.Parse(string(text))
}

// movedWarning warns that the files are not those in use.
func (f *directory) movedWarning() []item.Warning {
	reason := f.moveMark().Warning()
	if reason == "" {
		return nil
	}
	return []item.Warning{{File: movedName, Reason: "marks a copy that " + reason}}
}
