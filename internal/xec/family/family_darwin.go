package family

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// processes returns the numbers of all processes.
func processes() []int {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil
	}
	pids := make([]int, 0, len(all))
	for _, p := range all {
		pids = append(pids, int(p.Proc.P_pid))
	}
	return pids
}

// parentOf returns the parent of a process, 0 if there is no such process.
func parentOf(pid int) int {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(p.Eproc.Ppid)
}

// Started returns a text that differs between all processes that ever had a number: the
// time at which the process started. It is "" if there is no such process, or if it has ended and
// its parent has not noticed yet.
func Started(pid int) string {
	const zombie = 5 // SZOMB of sys/proc.h
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid || p.Proc.P_stat == zombie {
		return ""
	}
	return fmt.Sprintf("%d.%06d", p.Proc.P_starttime.Sec, p.Proc.P_starttime.Usec)
}

// hidden reports whether the system refuses to show the process with a number.
func hidden(pid int) bool {
	_, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err != nil && !errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}

// Marked returns none: macOS does not show the environment of a process.
func Marked(string) []*os.Process { return nil }

// space returns "": all processes of a machine are seen from everywhere on it.
func space() string { return "" }
