package remote

import "syscall"

// Windows sockets have their own error numbers, which syscall does not equate with the POSIX names;
// WSAECONNREFUSED has no name there at all.
const (
	errConnReset   = syscall.WSAECONNRESET
	errConnRefused = syscall.Errno(10061)
)
