package family

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/windows"
)

// Job objects hold all descendants on Windows, so no search for them is needed.

func processes() []int { return nil }

func parentOf(int) int { return 0 }

// Started returns a text that differs between all processes that ever had a number: the
// time at which the process started. It is "" if there is no such process.
func Started(pid int) string {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid)) //nolint:gosec // a process number
	if err != nil {
		return ""
	}
	defer func() { _ = windows.CloseHandle(h) }()
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return ""
	}
	return strconv.FormatInt(created.Nanoseconds(), 10)
}

// hidden reports whether the system refuses to show the process with a number, as that of another account.
func hidden(pid int) bool {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid)) //nolint:gosec // a process number
	if err == nil {
		_ = windows.CloseHandle(h)
	}
	return errors.Is(err, windows.ERROR_ACCESS_DENIED)
}

// Marked returns none.
func Marked(string) []*os.Process { return nil }

// space returns "": all processes of a machine are seen from everywhere on it.
func space() string { return "" }
