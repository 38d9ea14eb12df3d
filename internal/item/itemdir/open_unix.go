//go:build unix

package itemdir

import (
	"os"
	"syscall"
)

// openFlags keep a named pipe in place of a file from making us wait.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
