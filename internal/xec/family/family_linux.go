package family

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// processes returns the numbers of all processes.
func processes() []int {
	dir, err := os.Open("/proc") //nolint:forbidigo // a directory of the kernel
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1) // what was read counts
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// stat returns the fields of a process's stat file that follow its name, the first of
// them its state; nil if there is no such process.
func stat(pid int) [][]byte {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	// The name of the program is in parentheses, and may hold some itself.
	return bytes.Fields(text[bytes.LastIndexByte(text, ')')+1:])
}

// parentOf returns the parent of a process, 0 if there is no such process. A process whose
// first thread has ended looks like one that has ended, and may be alive: it counts.
func parentOf(pid int) int {
	fields := stat(pid)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1])) // 0 if it is none
	return parent
}

// constants are read at their first use.
var constants struct { //nolint:gochecknoglobals // they never change
	boot, space       sync.Once
	bootID, spaceName string
}

// bootID names this start of the system, since which process starts are counted.
func bootID() string {
	constants.boot.Do(func() {
		if text, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
			constants.bootID = string(bytes.TrimSpace(text))
		}
	})
	return constants.bootID
}

// Started returns a text that differs between all processes that ever had a number: the
// system's boot and the clock tick in which the process started. It is "" if there is no
// such process, or if it has ended and its parent has not noticed yet.
func Started(pid int) string {
	const threads, starttime = 20 - 3, 22 - 3 // the state is field 3 of the file
	fields := stat(pid)
	if len(fields) <= starttime {
		return ""
	}
	// A process whose first thread has ended is alive while it has others.
	if state := string(fields[0]); (state == "Z" || state == "X") && len(fields[threads]) == 1 && fields[threads][0] <= '1' {
		return ""
	}
	return bootID() + "/" + string(fields[starttime])
}

// hidden reports whether there is a process with a number, of which /proc shows nothing: that of another
// account where /proc is mounted with hidepid, or any while no file can be opened.
func hidden(pid int) bool {
	return stat(pid) == nil && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// Marked returns the processes of this user that were started with a variable,
// "NAME=value", in their environment. The caller releases them.
func Marked(variable string) []*os.Process {
	var found []*os.Process
	has := func(pid int) bool {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		return err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+variable+"\x00"))
	}
	for _, pid := range processes() {
		if !has(pid) {
			continue
		}
		if p, err := os.FindProcess(pid); err == nil && has(pid) {
			found = append(found, p)
		}
	}
	return found
}

// space names this start of the system and the processes that are seen from here.
func space() string {
	constants.space.Do(func() {
		if namespace, err := os.Readlink("/proc/self/ns/pid"); err == nil {
			constants.spaceName = bootID() + "/" + namespace
		}
	})
	return constants.spaceName
}
