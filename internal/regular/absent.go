package regular

import (
	"errors"
	"io/fs"
	"syscall"
)

// Absent reports whether err says that nothing has the name: there is no such file, or one of the
// directories above it is a file.
//
// Any other error leaves that open. A file that another account closed, or that a disk or a
// network fails to show, is not one that is gone: what its absence would allow may destroy it.
func Absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Unseen reports whether err is one of the system that leaves open whether the file exists: the
// opposite of [Absent] among the errors of the system.
func Unseen(err error) bool {
	_, system := errors.AsType[syscall.Errno](err)
	return system && !Absent(err)
}
