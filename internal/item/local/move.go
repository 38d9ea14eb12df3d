package local

import (
	"context"
	"errors"
	"maps"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Histories are the changes of items, the latest last.
type Histories = writer.Histories

// Leave calls do with all files of the store, and the histories of its items, while nobody else
// changes it, and records the store that do returns as the new place of the items. A store that was
// left is left again only for unfinished, the place of an interrupted move; "" for none.
func (s *Store) Leave(ctx context.Context, unfinished string, do func(exchange.Files, Histories) (to string, err error)) error {
	return s.moving(ctx, func(w *writer.Writer, m moved.Mark) error {
		if err := m.Err(); err != nil && !m.Is(moved.Mark{To: unfinished}) {
			return err
		}
		files, histories, err := w.Everything()
		if err != nil {
			return err
		}
		to, err := do(files, histories)
		if err != nil {
			return err
		}
		return w.SetMark(moved.Mark{To: to})
	})
}

// Enter replaces the files and histories of the store with those that decide returns, while nobody
// else changes it. decide gets the current ones, and whether they are no longer in use, because the
// items were moved to another store, or an earlier move to this one was interrupted. The store
// accepts changes after [Store.Arrive]. The files came from the store with the name from.
func (s *Store) Enter(ctx context.Context, from string, decide func(files exchange.Files, h Histories, unused bool) (exchange.Files, Histories, error)) error {
	return s.moving(ctx, func(w *writer.Writer, m moved.Mark) error {
		before, had, err := w.Everything()
		if err != nil {
			return err
		}
		after, has, err := decide(maps.Clone(before), had, m != moved.Mark{})
		if err != nil {
			return err
		}
		if err := w.CheckFiles(before, after); err != nil {
			return err
		}
		note, err := exchange.Note(w.Tx.Root())
		if err != nil {
			return err
		}
		if err := w.SetMark(moved.Mark{From: from}); err != nil {
			return err
		}
		if err := w.WriteHistories(after, has); err != nil {
			return err
		}
		return exchange.Replace(w.Tx, before, after, note)
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
	mark, err := f.Mark()
	return mark.From != "", err
}

// Arrive ends a move from another store, which accepts no more changes.
func (s *Store) Arrive(ctx context.Context) error {
	return s.moving(ctx, func(w *writer.Writer, m moved.Mark) error {
		if m.From == "" {
			return m.Err()
		}
		return w.ClearMark()
	})
}

// moving calls do with a writer and the mark of the store, which the caller must obey.
func (s *Store) moving(ctx context.Context, do func(*writer.Writer, moved.Mark) error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return f.Move(ctx, do)
}

// View calls do with all files of the store, and the histories of its items, while nobody
// else changes it.
func (s *Store) View(ctx context.Context, do func(exchange.Files, Histories) error) error {
	return s.moving(ctx, func(w *writer.Writer, _ moved.Mark) error {
		files, histories, err := w.Everything()
		if err != nil {
			return err
		}
		return do(files, histories)
	})
}

// Moved returns the store that the items were moved to, "" if they are here.
func (s *Store) Moved(ctx context.Context) (to string, err error) {
	f, err := s.find(ctx)
	if err != nil {
		return "", err
	}
	mark, err := f.Mark()
	return mark.To, err
}

// movedWarning warns that the files are not those in use.
func (f *directory) movedWarning() []item.Warning {
	mark, err := f.Mark()
	reason := mark.Warning()
	if err != nil {
		reason = "may be elsewhere: " + err.Error()
	}
	if reason == "" {
		return nil
	}
	return []item.Warning{{File: writer.MarkName, Reason: "marks a copy that " + reason}}
}
