package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
)

const (
	// syncLockName keeps one exchange with a remote at a time.
	syncLockName = layout.Private + "/sync"
	// failedName contains the reason why the last exchange with a remote failed.
	failedName = layout.Private + "/sync-failed"
)

// syncWait is how long an exchange with a remote waits for another one to end.
const syncWait = 5 * time.Minute

// Exchange calls decide with all files of the store and the note of the last exchange, and replaces
// them with the files that it returns, with a new note, while nobody else changes the store. It
// happens completely or not at all, even if the process is killed.
func (s *Store) Exchange(ctx context.Context, decide func(files exchange.Files, note string) (exchange.Files, string, error)) error {
	return s.exchanging(ctx, func(w *writer.Writer) error {
		before, err := exchange.Read(w.Tx.Root())
		if err != nil {
			return err
		}
		note, err := exchange.Note(w.Tx.Root())
		if err != nil {
			return err
		}
		after, newNote, err := decide(maps.Clone(before), note)
		if err != nil {
			return err
		}
		if err := w.CheckFiles(before, after); err != nil {
			return err
		}
		return exchange.Replace(w.Tx, before, after, newNote)
	})
}

// Synchronize calls do while no other process calls Synchronize for the store. Other changes
// continue.
func (s *Store) Synchronize(ctx context.Context, do func() error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return lockedstore.NewIn(f.Dir(), syncLockName, syncWait).Change(ctx, func(*lockedstore.Tx) error { return do() })
}

// SetNote replaces the note of the last exchange.
func (s *Store) SetNote(ctx context.Context, note string) error {
	return s.exchanging(ctx, func(w *writer.Writer) error {
		return exchange.SetNote(w.Tx, note)
	})
}

// NoteSync records the outcome of the last exchange with the remote: the error, empty if there was
// none. Call it within Synchronize.
func (s *Store) NoteSync(ctx context.Context, problem string) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	if _, err := f.Dir().In().Stat(failedName); problem == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.exchanging(ctx, func(w *writer.Writer) error {
		if problem == "" {
			err := w.Tx.Remove(failedName)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		}
		return w.Tx.Write(lockedstore.File{Name: failedName, Data: []byte(w.Timestamp() + " " + cleantext.Line(problem) + "\n")})
	})
}

// SyncProblems returns a warning if the last exchange with the remote failed, so that
// changes wait for the next one.
func (s *Store) SyncProblems(ctx context.Context) ([]item.Warning, error) {
	f, err := s.find(ctx)
	if errors.Is(err, storage.ErrNoProject) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f.failedSync(), nil
}

// failedSync returns a warning if the last exchange with the remote failed, or was not finished. Only a shared store takes
// part in exchanges; in any other, the author of the repository could have written the reason.
func (f *directory) failedSync() []item.Warning {
	if !f.Shared {
		return nil
	}
	if f.unfinished() {
		return []item.Warning{{File: layout.Items, Reason: "have an unfinished sync, so some can be missing or old; run `copse item sync`"}}
	}
	root, err := f.Root()
	if err != nil {
		return nil
	}
	defer root.Close()
	text, err := itemdir.ReadFile(root, failedName)
	if err != nil {
		return nil
	}
	at, problem, _ := strings.Cut(strings.TrimSpace(text), " ")
	return []item.Warning{{File: layout.Items, Reason: fmt.Sprintf("were not synced at %s: %s; changes wait here for the next sync", at, problem)}}
}

// finishWait is how long a reader waits for the lock of a store whose exchange is not finished.
const finishWait = 2 * time.Second

// reading returns the directory that is the store now, to be read. It first completes an exchange that a
// killed process began: until then, the store has a part of the files from before it, and a part of those
// from after it. If it cannot do that, failedSync warns.
func (s *Store) reading(ctx context.Context) (*directory, error) {
	f, err := s.find(ctx)
	if err == nil && f.unfinished() {
		limited, cancel := context.WithTimeout(ctx, finishWait)
		defer cancel()
		_ = f.Sync(limited, func(*writer.Writer) error { return nil })
	}
	return f, err
}

// unfinished reports whether a process is exchanging files of a shared store, or was killed meanwhile.
func (f *directory) unfinished() bool {
	if !f.Shared {
		return false
	}
	_, err := f.Dir().In().Stat(exchange.JournalName)
	return !regular.Absent(err)
}

// exchanging is change for the parts of an exchange with a remote, which Changed does not report.
func (s *Store) exchanging(ctx context.Context, do func(*writer.Writer) error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return f.Sync(ctx, do)
}
