// Package lockedstore changes the files of a directory that many processes share.
//
// Create a [Store] with [New] for a directory and make every change of its files in
// [Store.Change]; for a single file, use [EditPrivate] or [EditIn]. Then
//
//   - one change runs at a time, in all processes and goroutines, because all of
//     them lock the same file first. The lock belongs to the process and ends
//     with it, however it ends; the lock file itself is empty and stays;
//   - readers take no lock and never wait: files are replaced as a whole, so readers
//     see the old content or the new content;
//   - a change for which Change has returned nil is on disk and survives a loss of power;
//   - the contents of all files that are written together are on disk before the first is put
//     in place, so a full disk changes nothing;
//   - a killed process leaves at most temporary files. They are named
//     after the lock file, are harmless, and the next change replaces them;
//   - no error names the directory. The names in errors are those in the directory,
//     and errors.Is works with the errors of io/fs and syscall.
//
// A change of several files is not atomic: if it is killed halfway, some of
// them are in place. Write them in an order in which each state is valid, or
// first record the intended change, followed by [Tx.Flush].
package lockedstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Store is a directory whose files change under one lock. It is safe for concurrent use.
type Store struct {
	dir  rooted.Dir
	lock string
	wait time.Duration
	turn chan struct{} // held by the goroutine that has the lock, or waits for it
	disk Disk
}

// New returns the Store of the directory at path. The lock is the file with that slash-separated
// name in it; every process must use the same. It is created when it is first needed, with its
// directory. Change waits for it no longer than wait.
func New(path, lock string, wait time.Duration) *Store {
	return NewIn(rooted.Dir{Wall: path, Name: "."}, lock, wait)
}

// NewIn returns New for a directory that no link leaves: otherwise, Change fails with
// rooted.ErrOutside, or with rooted.ErrGitDirectory if a link leads into a git directory.
func NewIn(dir rooted.Dir, lock string, wait time.Duration) *Store {
	return &Store{dir: dir, lock: lock, wait: wait, turn: make(chan struct{}, 1), disk: System{}}
}

// On uses a disk other than the system's. Call it before the first change.
func (s *Store) On(disk Disk) { s.disk = disk }

// BusyError reports that another process kept the lock for too long.
type BusyError struct {
	Waited time.Duration
}

func (e *BusyError) Error() string {
	return fmt.Sprintf("another process has been changing the same files for %s; try again, or find the process that hangs", e.Waited)
}

// Change calls change while no other process changes the directory. Its error is that of change, a
// [*BusyError], that of ctx if it ends during the wait, or one of the file system. The Tx is
// unusable after Change has returned.
func (s *Store) Change(ctx context.Context, change func(*Tx) error) error {
	waiting, cancel := context.WithTimeoutCause(ctx, s.wait, &BusyError{Waited: s.wait})
	defer cancel()
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-waiting.Done():
		return context.Cause(waiting)
	}
	root, err := s.dir.OpenToWrite()
	if err != nil {
		return fmt.Errorf("open the directory: %w", regular.WithOwner(rooted.WithoutPath(err), s.dir.Path()))
	}
	defer root.Close()
	unlock, err := s.acquire(waiting, root)
	if err != nil {
		return regular.WithOwner(err, filepath.Join(s.dir.Path(), filepath.FromSlash(s.lock)))
	}
	defer unlock()

	tx := &Tx{root: root, temporary: s.lock + staging, unsynced: map[string]bool{}, checked: map[string]bool{".": true}, disk: s.disk}
	err = change(tx)
	if flushErr := tx.Flush(); err == nil {
		err = flushErr
	}
	return err
}

// acquire locks the lock file in root until unlock is called. The holder of
// s.turn calls it.
func (s *Store) acquire(ctx context.Context, root *os.Root) (unlock func(), err error) {
	for {
		if err := s.prepare(root); err != nil {
			return nil, err
		}
		lock, err := s.queue(ctx)
		if errors.Is(err, fs.ErrNotExist) { // it was removed in between
			continue
		}
		if err != nil {
			return nil, err
		}
		// A lock on a removed file excludes nobody.
		held, err := lock.Stat()
		if err == nil {
			var there fs.FileInfo
			if there, err = root.Lstat(s.lock); err == nil && os.SameFile(held, there) {
				return func() { _ = lock.Unlock() }, nil // closing it would unlock, too
			}
		}
		_ = lock.Unlock()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("inspect lock %q: %w", s.lock, rooted.WithoutPath(err))
		}
	}
}

// prepare creates the lock file, with its directory, and refuses one that cannot be locked.
func (s *Store) prepare(root *os.Root) error {
	switch info, err := root.Lstat(s.lock); {
	case errors.Is(err, fs.ErrNotExist):
		if err := rooted.CheckWrite(root, s.lock); err != nil {
			return fmt.Errorf("lock %q: %w", s.lock, err)
		}
		if err := makeDirs(root, path.Dir(s.lock)); err != nil {
			return fmt.Errorf("create a directory for the lock: %w", rooted.WithoutPath(err))
		}
		// Only here, below the root: the locking function opens it by its path.
		mode, err := lockMode(root, path.Dir(s.lock))
		if err != nil {
			return fmt.Errorf("lock %q: %w", s.lock, rooted.WithoutPath(err))
		}
		file, err := root.OpenFile(s.lock, os.O_CREATE|os.O_EXCL|os.O_RDONLY, mode)
		if errors.Is(err, fs.ErrExist) {
			return s.prepare(root) // of another process; the owner of somebody else's file never changes
		}
		if err != nil {
			return fmt.Errorf("lock %q: %w", s.lock, rooted.WithoutPath(err))
		}
		if dir, err := root.Stat(path.Dir(s.lock)); err == nil {
			ownership.Give(file, dir)
		}
		_ = file.Close()
	case err != nil:
		return fmt.Errorf("inspect lock %q: %w", s.lock, rooted.WithoutPath(err))
	case !info.Mode().IsRegular(): // a link could lead anywhere
		return fmt.Errorf("lock %q is not a regular file; remove it", s.lock)
	case info.Mode().Perm()&0o077 != 0: // by an earlier version, or shared
		if mode, err := lockMode(root, path.Dir(s.lock)); err == nil && info.Mode().Perm()&^mode != 0 {
			_ = root.Chmod(s.lock, info.Mode().Perm()&mode) // only its owner can
		}
	}
	return nil
}

// makeDirs creates a directory, unless it exists, and those above it. Each has the owner of the one above.
func makeDirs(root *os.Root, name string) error {
	err := root.Mkdir(name, 0o777)
	if errors.Is(err, fs.ErrNotExist) && path.Dir(name) != name {
		if err := makeDirs(root, path.Dir(name)); err != nil {
			return err
		}
		err = root.Mkdir(name, 0o777)
	}
	if err == nil {
		ownership.GiveDir(root, name)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil // what is not a directory fails later
	}
	return err
}

// lockMode returns the permissions of a lock file in a directory. A user who can open a lock file can
// hold the lock, so only those who can change the directory can open it.
func lockMode(root *os.Root, dir string) (fs.FileMode, error) {
	info, err := root.Stat(dir)
	if err != nil {
		return 0, err
	}
	writers := info.Mode().Perm() & 0o022
	return 0o600 | writers | writers<<1, nil
}

// queue waits in the system's queue for the lock, so each of many processes gets its turn.
func (s *Store) queue(ctx context.Context) (*flock.Flock, error) {
	name := filepath.Join(s.dir.Path(), filepath.FromSlash(s.lock))
	lock := flock.New(name, flock.SetFlag(regular.Flags))
	if locked, err := lock.TryLock(); locked {
		return lock, nil
	} else if err != nil {
		return nil, fmt.Errorf("lock %q: %w", s.lock, rooted.WithoutPath(err))
	}
	// The system call cannot be interrupted from here. A caller that gives up leaves a goroutine
	// behind, which releases the lock when it gets it.
	got := make(chan error)
	go func() {
		err := lock.Lock()
		select {
		case got <- err:
		case <-ctx.Done():
			_ = lock.Unlock()
		}
	}()
	select {
	case err := <-got:
		if err != nil {
			return nil, fmt.Errorf("lock %q: %w", s.lock, rooted.WithoutPath(err))
		}
		return lock, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
