package lockedstore

import (
	"os"
	"path"
	"strings"
)

// staging is in the names of the temporary files of a change, behind that of its lock.
const staging = ".new"

// Disk does the steps of a change whose order decides what a loss of power leaves. A test
// records them with lockedstoretest.
type Disk interface {
	// Sync brings the content of an open file to disk. Name is the name that the file gets
	// next, relative to the directory of the change.
	Sync(file *os.File, name string) error
	// Rename puts a file at a name, in place of what is there.
	Rename(root *os.Root, from, to string) error
	// Exchange puts two files of the directory in each other's place at once. The error is
	// errors.ErrUnsupported where the system or the file system cannot.
	Exchange(root *os.Root, one, other string) error
	// Link gives a file a second name, which must be free.
	Link(root *os.Root, old, name string) error
	// Remove removes a name.
	Remove(root *os.Root, name string) error
	// SyncDir brings the names in a directory to disk.
	SyncDir(root *os.Root, name string) error
}

// System is the Disk of the operating system.
type System struct{}

var _ Disk = System{}

// Sync is of Disk.
func (System) Sync(file *os.File, _ string) error { return file.Sync() }

// Rename is of Disk.
func (System) Rename(root *os.Root, from, to string) error { return rename(root, from, to) }

// Exchange is of Disk.
func (System) Exchange(root *os.Root, one, other string) error { return exchange(root, one, other) }

// Link is of Disk.
func (System) Link(root *os.Root, old, name string) error { return root.Link(old, name) }

// Remove is of Disk.
func (System) Remove(root *os.Root, name string) error { return root.Remove(name) }

// SyncDir is of Disk.
func (System) SyncDir(root *os.Root, name string) error { return syncFolder(root, name) }

// Temporary reports whether a name is that of a file that waits to be put in place.
func Temporary(name string) bool {
	base := path.Base(name)
	return strings.HasPrefix(base, temporaryPrefix) || strings.Contains(base, staging)
}
