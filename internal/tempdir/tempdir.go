// Package tempdir creates directories for the temporary files of a process.
//
// A directory from [New] is in the system's directory for temporary files, and only the user can
// enter it. [Dir.Close] removes it. A killed process leaves its directory behind; a later New with
// the same prefix removes it.
package tempdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/userdir"
)

const (
	// LockName is the file that the process that uses a directory locks. The system releases the
	// lock of a killed process.
	LockName = "copse.lock"
	// lockTime is more than a process needs to lock its new file.
	lockTime = time.Minute

	// maxNames and maxExamined limit how many names in the system's directory New reads, and how
	// many directories with its prefix it examines.
	maxNames    = 10_000
	maxExamined = 100
)

// Dir is a temporary directory.
type Dir struct {
	Path string
	lock *flock.Flock
}

// New creates a directory whose name begins with prefix. Except for the lock, it is empty.
func New(prefix string) (*Dir, error) {
	removeLeft(prefix)
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, fmt.Errorf("create a temporary directory: %w", err)
	}
	d := &Dir{Path: path, lock: flock.New(filepath.Join(path, LockName), flock.SetPermissions(0o600))}
	if _, err := d.lock.TryLock(); err != nil {
		_ = os.RemoveAll(path)
		return nil, fmt.Errorf("lock a temporary directory: %w", err)
	}
	return d, nil
}

// Close removes the directory.
func (d *Dir) Close() error { return errors.Join(d.lock.Unlock(), os.RemoveAll(d.Path)) }

// removeLeft removes the user's directories whose lock is free. Those without a lock, or with a new
// one, stay: a process is about to lock them, or they do not belong to this package. Leftovers are
// harmless, so it examines a limited number: any user of the machine can create such names.
func removeLeft(prefix string) {
	all := os.TempDir()
	dir, err := regular.OpenDirAt(all)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(maxNames) // as many as it can read
	examined := 0
	for _, name := range names {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		if examined++; examined > maxExamined {
			return
		}
		path := filepath.Join(all, name)
		if userdir.Dir(path).Private() && abandoned(filepath.Join(path, LockName)) {
			_ = os.RemoveAll(path)
		}
	}
}

// abandoned reports whether nobody holds a lock, and nobody is about to.
func abandoned(path string) bool {
	if file, err := os.Lstat(path); err != nil || !file.Mode().IsRegular() || time.Since(file.ModTime()) < lockTime {
		return false
	}
	lock := flock.New(path, flock.SetFlag(os.O_RDWR))
	if locked, err := lock.TryLock(); err != nil || !locked {
		return false
	}
	_ = lock.Unlock()
	return true
}
