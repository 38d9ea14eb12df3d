//go:build unix

package itemfolder

import (
	"os"
	"syscall"
)

// openFlags keep a named pipe in place of a file from making us wait.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
