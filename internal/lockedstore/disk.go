package lockedstore

import (
	"os"
	"path"
	"runtime"
	"strings"
)

// staging is a part of the names of a change's temporary files, after the name of its lock.
const staging = ".new"

// Disk performs the steps of a change. Their order decides what a loss of power leaves. A test
// records them with lockedstoretest.
type Disk interface {
	// Private returns an error if others can open a new file that was created for its user alone: some
	// file systems have no permissions of their own.
	Private(file *os.File) error
	// Sync writes the content of an open file to disk. name is the name that the file gets next,
	// relative to the directory of the change.
	Sync(file *os.File, name string) error
	// Rename puts a file at a name, and replaces an existing file.
	Rename(root *os.Root, from, to string) error
	// Exchange swaps two files of the directory atomically. The error is errors.ErrUnsupported if
	// the system or the file system cannot.
	Exchange(root *os.Root, one, other string) error
	// Link gives a file a second name, which must be free.
	Link(root *os.Root, old, name string) error
	// Remove removes a name.
	Remove(root *os.Root, name string) error
	// SyncDir writes the names in a directory to disk.
	SyncDir(root *os.Root, name string) error
}

// System is the Disk of the operating system.
type System struct{}

var _ Disk = System{}

// Private implements Disk.
func (System) Private(file *os.File) error {
	info, err := file.Stat()
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		err = ErrShared
	}
	return err
}

// Sync implements Disk.
func (System) Sync(file *os.File, _ string) error { return file.Sync() }

// Rename implements Disk.
func (System) Rename(root *os.Root, from, to string) error { return rename(root, from, to) }

// Exchange implements Disk.
func (System) Exchange(root *os.Root, one, other string) error { return exchange(root, one, other) }

// Link implements Disk.
func (System) Link(root *os.Root, old, name string) error { return root.Link(old, name) }

// Remove implements Disk.
func (System) Remove(root *os.Root, name string) error { return root.Remove(name) }

// SyncDir implements Disk.
func (System) SyncDir(root *os.Root, name string) error { return syncDir(root, name) }

// Temporary reports whether a name is that of a temporary file of a change.
func Temporary(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, temporaryPrefix) || strings.Contains(base, staging)
}
