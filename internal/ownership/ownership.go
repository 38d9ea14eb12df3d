// Package ownership leaves to the user of a directory what root creates in it: after a command with sudo, the
// user's own programs can use it.
//
// [MakeAll] creates directories, and [Open] a file, with the owner of the directory above. [Give] and [GiveDir]
// change the owner of what the caller has created itself. Never call them for anything that was
// there before: somebody else could have put it there. For a user who is not root, and on Windows, all four
// change no owner.
package ownership

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/regular"
)

// MakeAll creates a directory that only its owner can enter, unless it exists, and those above it.
func MakeAll(dir string) error {
	if os.Geteuid() != 0 {
		return os.MkdirAll(dir, 0o700)
	}
	dir = filepath.Clean(dir)
	above := filepath.Dir(dir)
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := MakeAll(above); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if err != nil {
		return os.MkdirAll(dir, 0o700) // it exists, or the error says why not
	}
	root, err := regular.OpenRoot(above)
	if err != nil {
		return err
	}
	defer root.Close()
	GiveDir(root, filepath.Base(dir))
	return nil
}

// Open opens a file with flags, and creates it if it does not exist. Only its owner can read it.
func Open(name string, flags int) (*os.File, error) {
	file, err := os.OpenFile(name, flags|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.OpenFile(name, flags|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, err
	}
	if above, err := os.Stat(filepath.Dir(name)); err == nil {
		Give(file, above)
	}
	return file, nil
}
