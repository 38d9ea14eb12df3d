package sidebranch

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// ownPrefix starts the names of the directories that git works in.
	ownPrefix = "copse-git-"
	// lockName is the file that the process that uses a directory locks. The system
	// releases the lock of a process that was killed.
	lockName = "copse.lock"
	// lockTime is more than a process needs to lock the file that it made.
	lockTime = time.Minute
)

// makeOwn makes a directory for git in the directory for temporary files, and removes those
// that killed processes left there.
func makeOwn() (dir string, lock *flock.Flock, err error) {
	removeLeft()
	if dir, err = os.MkdirTemp("", ownPrefix); err != nil {
		return "", nil, fmt.Errorf("make a directory for git: %w", err)
	}
	lock = flock.New(filepath.Join(dir, lockName), flock.SetPermissions(0o600))
	if _, err := lock.TryLock(); err != nil {
		_ = os.RemoveAll(dir)
		return "", nil, fmt.Errorf("lock a directory for git: %w", err)
	}
	return dir, lock, nil
}

// removeLeft removes directories whose lock nobody holds. Those without a lock, or with a
// new one, stay: a process is about to lock them, or they are not this package's. What cannot be removed does no harm.
func removeLeft() {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), ownPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range left {
		path := filepath.Join(dir, lockName)
		if in, err := os.Lstat(dir); err != nil || !in.IsDir() {
			continue
		}
		if file, err := os.Lstat(path); err != nil || !file.Mode().IsRegular() || time.Since(file.ModTime()) < lockTime {
			continue
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDWR))
		if locked, err := lock.TryLock(); err != nil || !locked {
			continue
		}
		_ = lock.Unlock()
		_ = os.RemoveAll(dir)
	}
}
