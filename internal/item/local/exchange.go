package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/itemfolder"
	"github.com/copse-dev/copse/internal/lockedstore"
)

const (
	// exchangeName is where it says what is being put in place of what. All of it is on disk before
	// the first file is replaced, and after a crash the next change finishes it.
	exchangeName = privateFolder + "/exchange.json"
	// syncedName has what the caller of Exchange notes about the files.
	syncedName = privateFolder + "/synced"
	// syncLockName keeps one exchange with a remote at a time.
	syncLockName = privateFolder + "/sync"
	// failedName has why the last exchange with a remote failed.
	failedName = privateFolder + "/sync-failed"
	// deepest is how many directories a file of a store is in at most.
	deepest = 3
)

// Files is the files of a store: texts by name, relative and with slashes.
type Files map[string]string

// exchange is what is being done.
type exchange struct {
	Write  map[string][]byte `json:"write,omitempty"`
	Remove []string          `json:"remove,omitempty"`
	Note   string            `json:"note"`
}

// Exchange calls decide with all files of the store and the note of the last
// exchange, and puts the files that it returns in their place, with a new note, while
// nobody else changes the store. Either all of it happens or nothing, also if the
// process is killed.
func (s *Store) Exchange(ctx context.Context, decide func(files Files, note string) (Files, string, error)) error {
	return s.keep(ctx, func(w *writer) error {
		before, err := w.files()
		if err != nil {
			return err
		}
		note, err := w.note()
		if err != nil {
			return err
		}
		after, newNote, err := decide(maps.Clone(before), note)
		if err != nil {
			return err
		}
		return w.replace(before, after, note, newNote)
	})
}

// replace puts files, and a note, in place of others.
func (w *writer) replace(before, after Files, note, newNote string) error {
	x := exchange{Write: map[string][]byte{}, Note: newNote}
	for name, text := range after {
		if !isStoreFile(name) {
			return fmt.Errorf("%q is not a valid name of a file in a store", name)
		}
		if old, ok := before[name]; !ok || old != text {
			x.Write[name] = []byte(text)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			x.Remove = append(x.Remove, name)
		}
	}
	if len(x.Write) == 0 && len(x.Remove) == 0 && newNote == note {
		return nil
	}
	return w.begin(x)
}

// Synchronize calls do while no other process calls Synchronize for the store. Changes
// go on meanwhile.
func (s *Store) Synchronize(ctx context.Context, do func() error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return lockedstore.New(f.dir.Path(), syncLockName, syncWait).Change(ctx, func(*lockedstore.Tx) error { return do() })
}

// SetNote replaces the note of the last exchange.
func (s *Store) SetNote(ctx context.Context, note string) error {
	return s.keep(ctx, func(w *writer) error {
		return w.tx.Write(lockedstore.File{Name: syncedName, Data: []byte(note + "\n")})
	})
}

// NoteSync notes how the last exchange with the remote ended: what was wrong, empty if
// nothing was. It is to be called within Synchronize.
func (s *Store) NoteSync(ctx context.Context, problem string) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	if _, err := f.dir.In().Stat(failedName); problem == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return s.keep(ctx, func(w *writer) error {
		if problem == "" {
			err := w.tx.Remove(failedName)
			if errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			return err
		}
		return w.tx.Write(lockedstore.File{Name: failedName, Data: []byte(w.timestamp() + " " + cleantext.Line(problem) + "\n")})
	})
}

// SyncProblems returns a warning if the last exchange with the remote failed, so that
// changes wait for the next one.
func (s *Store) SyncProblems(ctx context.Context) ([]item.Warning, error) {
	f, err := s.find(ctx)
	if errors.Is(err, item.ErrNoProject) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f.failedSync(), nil
}

// failedSync returns a warning if the last exchange with the remote failed.
func (f *folder) failedSync() []item.Warning {
	root, err := f.dir.Open()
	if err != nil {
		return nil
	}
	defer root.Close()
	text, err := itemfolder.ReadFile(root, failedName)
	if err != nil {
		return nil
	}
	at, problem, _ := strings.Cut(strings.TrimSpace(text), " ")
	return []item.Warning{{File: itemsFolder, Reason: fmt.Sprintf("were not synced at %s: %s; changes wait here for the next sync", at, problem)}}
}

// keep is change for what Changed does not report.
func (s *Store) keep(ctx context.Context, do func(*writer) error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	return f.change(ctx, do)
}

// IsStoreFile reports whether a store can have a file of that name.
func IsStoreFile(name string) bool { return isStoreFile(name) }

func isStoreFile(name string) bool {
	parts := strings.Split(name, "/")
	return len(parts) <= deepest && !strings.ContainsAny(name, "\\:\x00\n") && !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || part[0] == '.' && part != ".gitattributes"
	})
}

// files reads all files of the store.
func (w *writer) files() (Files, error) {
	files := Files{}
	err := fs.WalkDir(w.tx.Root().FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("read %q: %w", name, lockedstore.WithoutPath(err))
		case name == ".":
			return nil
		case d.IsDir() && (!isStoreFile(name+"/x") || d.Name()[0] == '.'):
			return fs.SkipDir
		case !d.Type().IsRegular() || !isStoreFile(name):
			return nil
		}
		text, err := itemfolder.ReadFile(w.tx.Root(), name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s %w", name, err)
		}
		files[name] = text
		return nil
	})
	return files, err
}

func (w *writer) note() (string, error) {
	note, err := itemfolder.ReadFile(w.tx.Root(), syncedName)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(note), err
}

// begin writes down an exchange and does it.
func (w *writer) begin(x exchange) error {
	data, err := json.Marshal(x)
	if err != nil {
		return err
	}
	if err := w.tx.Write(lockedstore.File{Name: exchangeName, Data: data}); err != nil {
		return err
	}
	if err := w.tx.Flush(); err != nil {
		return err
	}
	return w.put(x)
}

// finishExchange does what a process that was killed has left undone.
func (w *writer) finishExchange() error {
	data, err := w.tx.Root().ReadFile(exchangeName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", exchangeName, lockedstore.WithoutPath(err))
	}
	var x exchange
	if err := json.Unmarshal(data, &x); err != nil {
		return w.tx.Remove(exchangeName) // cut: nothing of it was done
	}
	return w.put(x)
}

// put puts the files of an exchange in place. It can be done again.
func (w *writer) put(x exchange) error {
	files := make([]lockedstore.File, 0, len(x.Write)+1)
	for _, name := range slices.Sorted(maps.Keys(x.Write)) {
		if !isStoreFile(name) {
			continue
		}
		if err := w.makeFolders(path.Dir(name)); err != nil {
			return err
		}
		files = append(files, lockedstore.File{Name: name, Data: x.Write[name]})
	}
	files = append(files, lockedstore.File{Name: syncedName, Data: []byte(x.Note + "\n")})
	if err := w.tx.Write(files...); err != nil {
		return err
	}
	for _, name := range x.Remove {
		if !isStoreFile(name) {
			continue
		}
		if err := w.tx.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := w.tx.Flush(); err != nil {
		return err
	}
	return w.tx.Remove(exchangeName)
}

func (w *writer) makeFolders(name string) error {
	if name == "." {
		return nil
	}
	if err := w.makeFolders(path.Dir(name)); err != nil {
		return err
	}
	return w.tx.MakeFolder(name)
}
