//go:build unix

package rooted

import "syscall"

const (
	// openFlags open without waiting for the other end of a named pipe, and without
	// making a terminal that of this process.
	openFlags = syscall.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

	openFolderFlags = openFlags | syscall.O_DIRECTORY
)
