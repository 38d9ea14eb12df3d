// Package exchange replaces any number of files of a store of work items atomically.
//
// [Read] returns the files of a store, and [Replace] replaces them. Either all of them are replaced
// or none, even if the process is killed: the journal of the change is on disk before the first
// file is replaced, and [Finish], with which each change of a shared store begins, completes an
// interrupted one. Files that no store can have together are refused before the journal is written.
// A repository can contain any other store with a journal of its author, so nothing
// reads that one. Next to the files, the store has a note, which identifies the last exchanged
// state of the files. The caller holds the lock of the store.
package exchange

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/historyfile"
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/ticfile"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

const (
	// JournalName is the journal of a replacement.
	JournalName = layout.Private + "/exchange.json"
	// noteName has the note.
	noteName = layout.Private + "/synced"
	// maxJournal is the size in bytes of the largest journal, in which texts are base64.
	maxJournal = 512 << 20
	// maxParts is the maximum number of elements of a journal. Each takes more memory than its text.
	maxParts = 1 << 20
	// deepest is the maximum nesting of directories in a store.
	deepest = 3
	// longest is the maximum length in bytes of the name of a file or a directory.
	longest = 255
)

// directories contain only files.
var directories = []string{layout.Items, layout.Trash, historyfile.Directory, claimfile.Directory}

// Files are the files of a store: texts by name, relative and with slashes.
type Files map[string]string

// journal is the change in progress.
type journal struct {
	Write  map[string][]byte `json:"write,omitempty"`
	Remove []string          `json:"remove,omitempty"`
	Note   string            `json:"note"`
}

// IsFile reports whether a store can have a file with that name. Private files are excluded, and
// those in the place of a directory of the store, or below one of its files.
func IsFile(name string) bool {
	parts := strings.Split(name, "/")
	if slices.Contains(directories, parts[0]) && len(parts) != 2 {
		return false
	}
	return len(parts) <= deepest && utf8.ValidString(name) && !slices.ContainsFunc(parts, func(part string) bool {
		return part == "" || part[0] == '.' && part != ".gitattributes" || len(part) > longest || !everywhere(part)
	})
}

// everywhere reports whether every system can have a file with that name. Windows refuses some
// characters and ends, and has devices with some names, whatever their extension.
func everywhere(part string) bool {
	if strings.ContainsAny(part, `\:<>"|?*`) || strings.ContainsFunc(part, func(r rune) bool { return r < ' ' }) ||
		strings.HasSuffix(part, ".") || strings.HasSuffix(part, " ") {
		return false
	}
	device, _, _ := strings.Cut(strings.ToLower(part), ".")
	device = strings.TrimRight(device, " ")
	if len(device) == len("com1") && (device[:3] == "com" || device[:3] == "lpt") {
		return device[3] < '0' || device[3] > '9'
	}
	return !slices.Contains([]string{"aux", "con", "nul", "prn"}, device)
}

// Read returns all files of a store.
func Read(root *os.Root) (Files, error) {
	files := Files{}
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("read %q: %w", name, rooted.WithoutPath(err))
		case name == ".":
			return nil
		case d.IsDir() && (!IsFile(name+"/x") || d.Name()[0] == '.'):
			return fs.SkipDir
		case !d.Type().IsRegular() || !IsFile(name):
			return nil
		}
		text, err := itemdir.ReadFile(root, name)
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

// Note returns the note; "" if there is none.
func Note(root *os.Root) (string, error) {
	note, err := itemdir.ReadFile(root, noteName)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(note), err
}

// SetNote replaces the note alone.
func SetNote(tx *lockedstore.Tx, note string) error {
	return tx.Write(lockedstore.File{Name: noteName, Data: []byte(note + "\n")})
}

// Replace replaces the files of the store, and its note. It writes nothing if nothing differs.
func Replace(tx *lockedstore.Tx, before, after Files, note string) error {
	old, err := Note(tx.Root())
	if err != nil {
		return err
	}
	j, size := journal{Write: map[string][]byte{}, Note: note}, 0
	for name, text := range after {
		if !IsFile(name) {
			return fmt.Errorf("%q is not a valid name of a file in a store", name)
		}
		if was, ok := before[name]; !ok || was != text {
			if size += len(text); size > maxJournal {
				return errTooMuch()
			}
			j.Write[name] = []byte(text)
		}
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			j.Remove = append(j.Remove, name)
		}
	}
	if len(j.Write) == 0 && len(j.Remove) == 0 && note == old {
		return nil
	}
	if err := j.check(tx.Root(), after); err != nil {
		return err
	}
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	if len(data) > maxJournal || bytes.Count(data, []byte{','}) > maxParts {
		return errTooMuch()
	}
	if err := tx.Write(lockedstore.File{Name: JournalName, Data: data}); err != nil {
		return err
	}
	if err := tx.Flush(); err != nil {
		return err
	}
	return j.do(tx)
}

func errTooMuch() error {
	return fmt.Errorf("too many files changed at once: the limits are %d MiB and %d files", maxJournal>>20, maxParts)
}

// Interrupted reports whether there is a journal, so that [Finish] has something to do.
func Interrupted(root *os.Root) bool {
	_, err := root.Lstat(JournalName)
	return !regular.Absent(err)
}

// Finish completes the work of a killed process.
func Finish(tx *lockedstore.Tx) error {
	data, err := regular.ReadIn(tx.Root(), JournalName, maxJournal)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %q: %w", JournalName, rooted.WithoutPath(err))
	}
	if bytes.Count(data, []byte{','}) > maxParts {
		return fmt.Errorf("%q has more than %d elements, so copse did not write it; delete it", JournalName, maxParts)
	}
	var j journal
	if err := json.Unmarshal(data, &j); err != nil {
		return tx.Remove(JournalName) // truncated: nothing of it was done
	}
	for name, text := range j.Write {
		if len(text) > ticfile.MaxSize {
			return fmt.Errorf("%q has a file %q of %d bytes, so copse did not write it; delete it", JournalName, name, len(text))
		}
	}
	if err := j.do(tx); err != nil {
		return fmt.Errorf("%w; correct that, or delete %q, which loses no item, and sync again", err, JournalName)
	}
	return nil
}

// do puts the files in place. It is idempotent.
func (j journal) do(tx *lockedstore.Tx) error {
	if err := j.makeRoom(tx); err != nil {
		return err
	}
	files := make([]lockedstore.File, 0, len(j.Write)+1)
	for _, name := range slices.Sorted(maps.Keys(j.Write)) {
		if !IsFile(name) {
			continue
		}
		if err := makeDirectories(tx, path.Dir(name)); err != nil {
			return err
		}
		files = append(files, lockedstore.File{Name: name, Data: j.Write[name]})
	}
	files = append(files, lockedstore.File{Name: noteName, Data: []byte(j.Note + "\n")})
	if err := tx.Write(files...); err != nil {
		return err
	}
	for _, name := range j.Remove {
		if !IsFile(name) {
			continue
		}
		if err := remove(tx, name); err != nil {
			return err
		}
	}
	if err := tx.Flush(); err != nil {
		return err
	}
	return tx.Remove(JournalName)
}

func makeDirectories(tx *lockedstore.Tx, name string) error {
	if name == "." {
		return nil
	}
	if err := makeDirectories(tx, path.Dir(name)); err != nil {
		return err
	}
	return tx.MakeDir(name)
}
