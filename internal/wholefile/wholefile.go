// Package wholefile replaces files of caches.
//
// Use [Replace]. It guarantees that a reader sees the old content or the new one, never a part, and
// that only the directory's user can read the file. The content need not survive a crash of the system: use
// package lockedstore for what must.
package wholefile

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/ownership"
)

// Replace writes a file with mode 0600, whose directory exists. Until the content is complete, it is
// in a file beside it, whose name [os.CreateTemp] makes from pattern. After an error, including one
// of write, that file is gone and the old content is still there; a process that is killed leaves it
// behind.
func Replace(path, pattern string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), pattern)
	if err != nil {
		return err
	}
	if dir, err := os.Stat(filepath.Dir(path)); err == nil {
		ownership.Give(file, dir)
	}
	if err = errors.Join(write(file), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}

// Bytes returns the writer of some parts, one after the other, for [Replace].
func Bytes(parts ...[]byte) func(io.Writer) error {
	return func(w io.Writer) error {
		for _, part := range parts {
			if _, err := w.Write(part); err != nil {
				return err
			}
		}
		return nil
	}
}
