package lockedstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/copse-dev/copse/internal/ownership"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// ErrChanged reports that a file has changed since it was read.
var ErrChanged = errors.New("it was changed meanwhile")

// ErrShared reports that a file system cannot keep a file from other users.
var ErrShared = errors.New("other users could read it, because its file system ignores permissions; move it to another file system")

// Foreign is a file of another program, which does not use our locks.
type Foreign struct {
	path    string
	wall    string // "" if links are followed wherever they lead
	maxSize int64  // the maximum size to read and to write, in bytes
	private bool
	disk    Disk
}

// Private returns the same file for a content that only its user may read. If the file system cannot
// keep it from others, Replace fails with ErrShared before it writes anything.
func (f Foreign) Private() Foreign {
	f.private = true
	return f
}

// ForeignAt returns the file at an absolute path. It follows a symbolic link there.
func ForeignAt(path string) Foreign { return Foreign{path: path, maxSize: MaxEdit, disk: System{}} }

// ForeignIn returns the file at a path below the directory wall, which no link leaves: otherwise,
// Read and Replace fail with rooted.ErrOutside, or with rooted.ErrGitDirectory if a link leads into
// a git directory.
func ForeignIn(wall, path string) Foreign {
	return Foreign{path: path, wall: wall, maxSize: MaxEdit, disk: System{}}
}

// AtMost returns the same file with another maximum size for Read and Replace, in bytes.
func (f Foreign) AtMost(size int64) Foreign {
	f.maxSize = size
	return f
}

// On returns the same file for a disk other than the system's.
func (f Foreign) On(disk Disk) Foreign {
	f.disk = disk
	return f
}

// Read returns the content of the file. A missing file is fs.ErrNotExist. It reads only a regular
// file of at most MaxEdit bytes, or of the size of AtMost.
func (f Foreign) Read() ([]byte, error) {
	root, name, err := f.open(false)
	if err != nil {
		return nil, rooted.WithoutPath(err)
	}
	defer root.Close()
	data, err := regular.ReadIn(root, name, f.maxSize)
	return data, rooted.WithoutPath(err)
}

// Check returns the error of a content that Read would refuse, for callers that do something else
// before Replace.
func (f Foreign) Check(content []byte) error {
	if size := int64(len(content)); size > f.maxSize {
		return fmt.Errorf("it would have %d bytes; the limit is %d; shorten it first", size, f.maxSize)
	}
	return nil
}

// Replace calls Foreign.Replace for the file at path.
func Replace(path string, before, after []byte) error { return ForeignAt(path).Replace(before, after) }

// Replace replaces an old content with a new one, completely and on disk. If the file no longer has
// the old content, the error is ErrChanged and the file stays. A missing file has the old content
// "", and is created, with its directory, readable only by its user. A content that Read would
// refuse is an error. Nothing remains next to the
// file. Only users who could read the file can read what a killed process has left, and the next
// Replace removes it.
//
// On Linux and macOS, where two files can swap places, a concurrent edit by another program is
// never lost: Replace examines the file that it has replaced, and restores it if that does not have
// the old content. Two gaps remain. For microseconds, until the edit is restored, a reader does not
// see it. A program that writes into the file itself, instead of replacing it, can write to the old
// file after Replace has examined it. On Windows, and on file systems that cannot exchange files,
// Replace compares the content immediately before it replaces the file, and an edit in the
// microseconds in between is lost.
func (f Foreign) Replace(before, after []byte) error {
	if err := f.Check(after); err != nil {
		return fmt.Errorf("replace %q: %w", filepath.Base(f.path), err)
	}
	root, name, err := f.open(true)
	if err != nil {
		return fmt.Errorf("open the directory of %q: %w", filepath.Base(f.path), rooted.WithoutPath(err))
	}
	defer root.Close()
	unlock := alone(root)
	defer unlock()
	sweep(root)
	if err := replace(f, root, name, before, after); err != nil {
		return fmt.Errorf("replace %q: %w", name, rooted.WithoutPath(err))
	}
	return nil
}

// open returns the directory of the file, and its name there.
func (f Foreign) open(create bool) (*os.Root, string, error) {
	if f.wall == "" {
		at := f.path
		if target, err := filepath.EvalSymlinks(at); err == nil {
			at = target
		}
		directory, name := filepath.Split(at)
		if create {
			if err := ownership.MakeAll(directory); err != nil {
				return nil, "", err
			}
		}
		root, err := regular.OpenRoot(directory)
		return root, name, err
	}
	name, err := f.inside()
	if err != nil {
		return nil, "", err
	}
	dir := rooted.Dir{Wall: f.wall, Name: path.Dir(name)}
	if create {
		if err := makeAll(f.wall, dir.Name); err != nil {
			return nil, "", err
		}
	}
	root, err := dir.Open()
	return root, path.Base(name), err
}

// inside returns the name below the wall of the file at the end of links.
func (f Foreign) inside() (string, error) {
	wall, err := rooted.Open(f.wall)
	if err != nil {
		return "", err
	}
	defer wall.Close()
	name, err := wall.Name(f.path)
	if err != nil {
		return "", err
	}
	if err := wall.CheckWrite(name); err != nil {
		return "", err
	}
	real, err := wall.Real(name)
	if errors.Is(err, fs.ErrNotExist) {
		if info, err := wall.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", errors.New("it is a symbolic link to nothing")
		}
		return name, nil
	}
	return real, err
}

func makeAll(wall, name string) error {
	root, err := regular.OpenRoot(wall)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.MkdirAll(filepath.FromSlash(name), 0o755)
}

// unchanged returns ErrChanged if a file differs from before.
func unchanged(root *os.Root, name string, before []byte) error {
	now, err := regular.ReadIn(root, name, MaxEdit)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !bytes.Equal(now, before) {
		return ErrChanged
	}
	return nil
}

func replace(f Foreign, root *os.Root, name string, before, after []byte) (err error) {
	disk := f.disk
	if err := unchanged(root, name, before); err != nil {
		return err
	}
	mode := fs.FileMode(0o600)
	old, err := root.Stat(name)
	if err == nil {
		mode = old.Mode().Perm()
	}
	file, lock, err := temporary(root)
	if err != nil {
		return err
	}
	defer func() { _ = lock.Unlock() }()
	staged := filepath.Base(file.Name())
	defer func() {
		_ = file.Close()
		if err != nil {
			_ = root.Remove(staged)
		}
	}()
	if f.private {
		if err = disk.Private(file); err != nil {
			return err
		}
	}
	if _, err = file.Write(after); err == nil {
		err = disk.Sync(file, name)
	}
	if err == nil {
		err = unchanged(root, name, before)
	}
	if err == nil {
		err = put(disk, root, staged, name, before)
	}
	if err != nil {
		return err
	}
	owner := old
	if old == nil && !f.private { // a token that root writes stays root's
		owner, _ = root.Stat(".")
	}
	if owner != nil {
		ownership.Give(file, owner)
	}
	if err := file.Chmod(mode); err != nil { // not before: a reader of the half-written file must not be able to read it
		return err
	}
	_ = disk.SyncDir(root, ".") // not every system supports it
	return nil
}

// temporaryPrefix begins the names of files that are not yet in place.
const temporaryPrefix = ".copse-tmp-"

// temporary creates a file that only its user may read. Its lock shows others that it is in use.
func temporary(root *os.Root) (*os.File, *flock.Flock, error) {
	const attempts = 100
	for range attempts {
		name := temporaryPrefix + strconv.FormatUint(rand.Uint64(), 36)
		file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		lock := lockOf(root, name)
		if locked, err := lock.TryLock(); locked {
			if _, err := root.Lstat(name); err == nil {
				return file, lock, nil
			}
		} else if err != nil { // a file system without locks
			return file, lock, nil //nolint:nilerr // nobody else can hold one there
		}
		_ = lock.Unlock() // another process mistook it for a leftover
		_ = file.Close()
	}
	return nil, nil, errors.New("copse cannot create a temporary file")
}

func lockOf(root *os.Root, name string) *flock.Flock {
	return flock.New(filepath.Join(root.Name(), name), flock.SetFlag(regular.Flags))
}

// alone waits until no other process of ours replaces a file of the directory, and blocks others
// until unlock is called: otherwise, two processes that exchange the same file at the same time
// could mistake each other's file for an edit. It does not wait long, because anybody who can read
// the directory can hold its lock, and it does nothing if directories cannot be locked.
func alone(root *os.Root) (unlock func()) {
	const wait, nap = 2 * time.Second, 5 * time.Millisecond
	lock := flock.New(root.Name(), flock.SetFlag(os.O_RDONLY))
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	_, _ = lock.TryLockContext(ctx, nap)
	return func() { _ = lock.Close() }
}

// sweep removes temporary files of killed processes.
func sweep(root *os.Root) {
	dir, err := regular.OpenDir(root, ".")
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	_ = dir.Close()
	for _, name := range names {
		if !strings.HasPrefix(name, temporaryPrefix) {
			continue
		}
		if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() {
			continue
		}
		lock := lockOf(root, name)
		if locked, _ := lock.TryLock(); locked {
			_ = root.Remove(name)
			_ = lock.Unlock()
		}
	}
}
