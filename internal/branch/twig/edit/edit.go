// Package edit changes the state file that package twig reads. It is separate because the read-only
// program must not link a writer.
//
// Use [At] for the worktree whose state to change, then [File.Change] with a function that works on
// a [Draft]. The change follows the conventions of the program twig, so that it can still read the
// file: the order of members and records, two spaces of indentation, no newline at the end, random
// UUIDs, times in UTC, a new updated_at, and a .twig/.gitignore that hides the directory. Beyond
// twig, the change is atomic and under a lock, readers never wait, and unknown members do not
// change. An invalid file does not change.
package edit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// wait is how long to wait for another process to change the state.
const wait = 5 * time.Second

// empty is the state of a repository that has none yet.
const empty = `{"version":1,"updated_at":"","worktrees":[],"branches":{},"dependencies":[],"root_branches":[]}`

// The names in the state's directory.
const (
	dirName    = ".twig"
	stateName  = "state.json"
	ignoreName = ".gitignore"
	lockName   = ".state.json.lock"
)

// maxIgnore is the maximum size of the ignore file.
const maxIgnore = 1 << 20

// errUnchanged ends an edit that has nothing to do.
var errUnchanged = errors.New("nothing to change")

// File is the state file of one worktree. It is safe for concurrent use.
type File struct {
	root  string
	store *lockedstore.Store
	now   func() time.Time
}

// At returns the state file of the worktree at root, which may not exist yet.
func At(root string, now func() time.Time) *File {
	directory := rooted.Dir{Wall: root, Name: dirName}
	return &File{root: root, store: lockedstore.NewIn(directory, lockName, wait), now: now}
}

// Change calls do with the present state and saves its changes, all or none. It returns false if
// there was nothing to change; then it does not touch the file. If do fails, nothing changes. The
// error is a *twig.BadStateError if the file is invalid. Where there is no directory yet, do first
// gets an empty state, so that a change that fails creates nothing, and is called again.
func (f *File) Change(ctx context.Context, do func(*Draft) error) (changed bool, err error) {
	if _, err := os.Lstat(filepath.Join(f.root, dirName)); errors.Is(err, fs.ErrNotExist) {
		if changes, err := f.changesEmpty(do); err != nil || !changes {
			return false, err
		}
	}
	if err := f.makeDir(); err != nil {
		return false, fmt.Errorf("create the directory .twig: %w", rooted.WithoutPath(err))
	}
	err = f.store.Change(ctx, func(tx *lockedstore.Tx) error {
		draft, err := twig.Complete(twig.Patience, func() (*Draft, error) {
			old, err := readState(tx.Root())
			if err != nil {
				return nil, rooted.WithoutPath(err)
			}
			return newDraft(old, f.now().UTC())
		})
		if err != nil {
			return &twig.BadStateError{Err: err}
		}
		if err := do(draft); err != nil {
			return err
		}
		if !draft.changed {
			return errUnchanged
		}
		text, err := draft.text()
		if err != nil {
			return err
		}
		if err := readable(text); err != nil {
			return fmt.Errorf("%s would be too large to be read: %w", twig.Name, err)
		}
		files := []lockedstore.File{{Name: stateName, Data: text}}
		ignore, err := regular.ReadIn(tx.Root(), ignoreName, maxIgnore)
		if regular.Unseen(err) {
			return fmt.Errorf("read %s: %w", ignoreName, rooted.WithoutPath(err)) // it may have lines of the user
		}
		if err != nil || !hidesAll(ignore) {
			files = append([]lockedstore.File{{Name: ignoreName, Data: []byte("*\n")}}, files...)
		}
		return tx.Write(files...)
	})
	switch {
	case errors.Is(err, errUnchanged):
		return false, nil
	case errors.Is(err, rooted.ErrOutside):
		return false, &twig.BadStateError{Err: twig.ErrOutside}
	}
	if busy, ok := errors.AsType[*lockedstore.BusyError](err); ok {
		return false, fmt.Errorf("%s is being changed by another program: %w", twig.Name, busy)
	}
	return err == nil, err
}

// changesEmpty reports whether do changes an empty state.
func (f *File) changesEmpty(do func(*Draft) error) (bool, error) {
	draft, err := newDraft([]byte(empty), f.now().UTC())
	if err != nil {
		return false, err
	}
	err = do(draft)
	return draft.changed, err
}

// readable returns the error with which a reader would refuse a state.
func readable(text []byte) error {
	if len(text) > twig.MaxSize {
		return fmt.Errorf("it would have %d bytes, and the limit is %d", len(text), twig.MaxSize)
	}
	_, err := twig.Parse(text)
	return err
}

func (f *File) makeDir() error {
	root, err := regular.OpenRoot(f.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.Mkdir(dirName, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// readState returns the content of the state file, or of an empty state if there is none.
func readState(directory *os.Root) ([]byte, error) {
	info, err := directory.Lstat(stateName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []byte(empty), nil
	case err != nil:
		return nil, err
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, twig.ErrLink
	}
	return regular.ReadIn(directory, stateName, twig.MaxSize)
}

// hidesAll reports whether an ignore file hides its whole directory.
func hidesAll(ignore []byte) bool {
	for line := range strings.Lines(string(ignore)) {
		if strings.TrimSpace(line) == "*" {
			return true
		}
	}
	return false
}

// pretty returns JSON in the form in which twig writes it.
func pretty(flat []byte) ([]byte, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(flat), "", "  "); err != nil {
		return nil, fmt.Errorf("write %s: %w", twig.Name, err)
	}
	return b.Bytes(), nil
}

// stamp returns a time in twig's format, before its offset: with three, six, or nine decimal
// places, as needed.
func stamp(t time.Time) string {
	const seconds = "2006-01-02T15:04:05"
	switch ns := t.Nanosecond(); {
	case ns == 0:
		return t.Format(seconds)
	case ns%1e6 == 0:
		return t.Format(seconds + ".000")
	case ns%1e3 == 0:
		return t.Format(seconds + ".000000")
	}
	return t.Format(seconds + ".000000000")
}
