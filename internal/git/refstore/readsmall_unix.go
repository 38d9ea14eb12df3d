//go:build unix

package refstore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/regular"
)

// readSmall reads a file of dir into buf, or into a new slice if it is larger. It takes three
// system calls; reading by path takes twice as many. Anything but a file is an error.
func readSmall(dir *os.File, name string, buf []byte) ([]byte, error) {
	const flags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK
	var fd, n int
	err := retry(func() (err error) {
		fd, err = unix.Openat(int(dir.Fd()), name, flags, 0)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir.Name(), name), Err: err}
	}
	defer func() { _ = unix.Close(fd) }()
	err = retry(func() (err error) {
		n, err = unix.Read(fd, buf)
		return err
	})
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: filepath.Join(dir.Name(), name), Err: err}
	}
	if n == len(buf) {
		return regular.Read(filepath.Join(dir.Name(), name), maxLoose)
	}
	return buf[:n], nil
}

func retry(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
