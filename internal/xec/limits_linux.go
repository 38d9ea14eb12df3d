package xec

import (
	"time"

	"golang.org/x/sys/unix"
)

// limit limits what a process that has just been started may use. A process that has ended meanwhile
// needs no limit.
func limit(pid int, c Command) {
	if c.MaxMemory > 0 {
		_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: c.MaxMemory, Max: c.MaxMemory}, nil)
	}
	if c.MaxProcessor > 0 {
		seconds := uint64((c.MaxProcessor + time.Second - 1) / time.Second)
		_ = unix.Prlimit(pid, unix.RLIMIT_CPU, &unix.Rlimit{Cur: seconds, Max: seconds}, nil)
	}
}
