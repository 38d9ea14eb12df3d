// Package otheruser lets a test act as another user of the machine. Only root can.
package otheruser

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/copse-dev/copse/internal/test/need"
)

// UID is a user that tests are not.
const UID = 65534

// Need skips a test that is not run by root.
func Need(tb testing.TB) {
	tb.Helper()
	if os.Getuid() != 0 {
		need.Skip(tb, "only root can act as another user")
	}
}

// Do calls do on a thread that belongs to the other user and ends with it. See [Need].
func Do(tb testing.TB, do func()) {
	tb.Helper()
	Need(tb)
	done := make(chan syscall.Errno)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread is thrown away
		_, _, errno := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), UID, ^uintptr(0))
		if errno == 0 {
			do()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 {
		tb.Fatal(errno)
	}
}
