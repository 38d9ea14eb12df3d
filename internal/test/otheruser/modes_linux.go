package otheruser

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// ObeyModes makes the modes of files hold for the goroutine of a test, also if root runs it. The thread
// ends with the test.
func ObeyModes(tb testing.TB) {
	tb.Helper()
	runtime.LockOSThread()
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	err := unix.Capget(&header, &data[0])
	if err == nil {
		data[0].Effective &^= 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH
		err = unix.Capset(&header, &data[0])
	}
	if err != nil {
		tb.Fatal(err)
	}
}
