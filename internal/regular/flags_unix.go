//go:build unix

package regular

import (
	"os"

	"golang.org/x/sys/unix"
)

// Flags open a file for reading without waiting for the other end of a named pipe, and without
// making a terminal the controlling one of this process.
const Flags = os.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
