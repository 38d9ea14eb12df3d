//go:build unix

package rooted

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/regular"
)

const openDirFlags = regular.Flags | unix.O_DIRECTORY

// WithTypes returns an open directory that reports the types of its entries without a stat of each:
// the library uses a stat for directories below a root, because their Info would be looked up by a
// path. It closes dir.
func WithTypes(dir *os.File) (*os.File, error) {
	defer dir.Close()
	conn, err := dir.SyscallConn()
	if err != nil {
		return nil, WithoutPath(err)
	}
	var copied int
	var copyErr error
	if err := conn.Control(func(fd uintptr) { copied, copyErr = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0) }); err != nil {
		return nil, WithoutPath(err)
	}
	if copyErr != nil {
		return nil, copyErr
	}
	return os.NewFile(uintptr(copied), "."), nil //nolint:gosec // a file descriptor
}
