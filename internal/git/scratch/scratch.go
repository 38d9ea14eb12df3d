// Package scratch creates git directories outside of any repository, for git to work in.
//
// A directory from [New] is an empty bare repository in the directory for temporary files. Only the
// user can enter it, and it contains no repository's configuration, hooks, or refs. Its user adds
// what it needs of a repository, such as objects. [Dir.Close] removes it. A killed process leaves
// its directory behind; a later New removes it.
package scratch

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	// prefix starts the names of the directories.
	prefix = "copse-git-"
	// lockName is the file that the process that uses a directory locks. The system releases the
	// lock of a killed process.
	lockName = "copse.lock"
	// lockTime is more than a process needs to lock its new file.
	lockTime = time.Minute
)

// Dir is a git directory.
type Dir struct {
	Path string
	lock *flock.Flock
}

// New creates a git directory whose objects have names of the format "sha256", or of SHA-1 if the
// format is empty.
func New(objectFormat string) (*Dir, error) {
	removeLeft()
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, fmt.Errorf("make a directory for git: %w", err)
	}
	d := &Dir{Path: path, lock: flock.New(filepath.Join(path, lockName), flock.SetPermissions(0o600))}
	if _, err := d.lock.TryLock(); err != nil {
		_ = os.RemoveAll(path)
		return nil, fmt.Errorf("lock a directory for git: %w", err)
	}
	if err := d.fill(objectFormat); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("make a directory for git: %w", err)
	}
	return d, nil
}

// fill writes the files that make the directory a repository for git.
func (d *Dir) fill(objectFormat string) error {
	config := "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
	if objectFormat != "" {
		config = fmt.Sprintf("[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = %q\n", objectFormat)
	}
	for _, dir := range []string{"refs/heads", "objects/info", "info"} {
		if err := os.MkdirAll(filepath.Join(d.Path, filepath.FromSlash(dir)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/none\n", "config": config} {
		if err := d.Write(name, []byte(text)); err != nil {
			return err
		}
	}
	return nil
}

// Write writes a file in the directory. The name has slashes.
func (d *Dir) Write(name string, data []byte) error {
	return os.WriteFile(filepath.Join(d.Path, filepath.FromSlash(name)), data, 0o600)
}

// Close removes the directory.
func (d *Dir) Close() error { return errors.Join(d.lock.Unlock(), os.RemoveAll(d.Path)) }

// removeLeft removes directories whose lock is free. Those without a lock, or with a new one, stay:
// a process is about to lock them, or they do not belong to this package. Leftovers are harmless.
func removeLeft() {
	left, err := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
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
