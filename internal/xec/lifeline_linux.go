package xec

import (
	"os"

	"golang.org/x/sys/unix"
)

// slowPipe returns a pipe with room for one write: the next one waits until that is read. A panic is
// many writes, so a process does not end before the reader has done something about it.
func slowPipe() (r, w *os.File, err error) {
	var ends [2]int
	if unix.Pipe2(ends[:], unix.O_CLOEXEC|unix.O_DIRECT) != nil {
		return os.Pipe() // a kernel without such pipes
	}
	_, _ = unix.FcntlInt(uintptr(ends[1]), unix.F_SETPIPE_SZ, 1)
	return os.NewFile(uintptr(ends[0]), "|0"), os.NewFile(uintptr(ends[1]), "|1"), nil
}
