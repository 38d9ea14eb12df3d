//go:build unix

package bombs

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// peakOf returns the most memory, in MiB, that an ended process took, or one that it waited
// for. The system counts the memory of the process that started it, so that one must be small.
func peakOf(state *os.ProcessState) float64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	unit := 1024.0 // KiB in one MiB
	if runtime.GOOS == "darwin" {
		unit *= 1024 // it tells bytes
	}
	return float64(usage.Maxrss) / unit
}

// Worked returns the processor time that this process has used, 0 if the system does not tell.
func Worked() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
