package xec

import "golang.org/x/sys/unix"

// limitMemory limits what a process that has just been started may allocate. A process
// that has ended meanwhile needs no limit.
func limitMemory(pid int, limit uint64) {
	_ = unix.Prlimit(pid, unix.RLIMIT_DATA, &unix.Rlimit{Cur: limit, Max: limit}, nil)
}
