//go:build linux || darwin

package lockedstore

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/copse-dev/copse/internal/regular"
)

// inDirectory calls rename with the descriptor of a directory, so no link redirects it. An error
// that means that the file system does not support it becomes errors.ErrUnsupported.
func inDirectory(root *os.Root, rename func(dir int) error) error {
	dir, err := regular.OpenDir(root, ".")
	if err != nil {
		return err
	}
	defer dir.Close()
	err = rename(int(dir.Fd()))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.EPERM):
		return errors.Join(errors.ErrUnsupported, err)
	default:
		return &os.SyscallError{Syscall: "rename", Err: err}
	}
}
