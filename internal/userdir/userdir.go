// Package userdir stores small files that the processes of one user share, in a directory
// that nobody else can enter.
//
// Use a [Dir]. It guarantees that
//
//   - a directory that belongs to someone else, or that others can enter, is not used;
//   - the directory has mode 0700 and its files 0600;
//   - a file is replaced as a whole, so a reader never sees half of it. It need not survive a
//     crash of the system.
package userdir

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/wholefile"
)

// Dir is the path of a directory; empty is none.
type Dir string

// ErrUnusable reports that there is no directory that only the user can enter.
var ErrUnusable = errors.New("there is no directory that only the user can enter")

// Path returns the path of a file.
func (d Dir) Path(name string) string { return filepath.Join(string(d), name) }

// Private reports whether the directory exists and nobody else can enter it.
func (d Dir) Private() bool { return d != "" && private(string(d)) }

// Make creates the directory and reports whether nobody else can enter it.
func (d Dir) Make() bool { return d != "" && ownership.MakeAll(string(d)) == nil && d.Private() }

// Replace writes a file whole. The error can be [ErrUnusable].
func (d Dir) Replace(name string, data []byte) error {
	if !d.Make() {
		return ErrUnusable
	}
	return wholefile.Replace(d.Path(name), ".new-*", wholefile.Bytes(data))
}

// Read returns the content of a file of at most limit bytes. The errors are those of
// [regular.Read].
func (d Dir) Read(name string, limit int64) ([]byte, error) {
	if !d.Private() {
		return nil, ErrUnusable
	}
	return regular.Read(d.Path(name), limit)
}

// List returns the entries by name; none if the directory cannot be used.
func (d Dir) List() []os.DirEntry {
	if !d.Private() {
		return nil
	}
	entries, _ := regular.ReadDir(string(d)) // what was read counts
	return entries
}

// Remove removes a file, if there is one.
func (d Dir) Remove(name string) { _ = os.Remove(d.Path(name)) }
