package xec

import (
	"bytes"
	"os"
	"strconv"
)

// processes returns the numbers of all processes.
func processes() []int {
	dir, err := os.Open("/proc")
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

// parentOf returns the parent of a process, 0 if there is no such process.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	// The name of the program is in parentheses, and may hold some itself.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1])) // 0 if it is none
	return parent
}

// marked returns the processes that were started with a variable in their environment,
// as far as they are this user's.
func marked(variable string) []*os.Process {
	var found []*os.Process
	has := func(pid int) bool {
		environ, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
		return err == nil && bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+variable+"\x00"))
	}
	for _, pid := range processes() {
		if !has(pid) {
			continue
		}
		// The number may be another process's by now; this one stays what it is.
		if p, err := os.FindProcess(pid); err == nil && has(pid) {
			found = append(found, p)
		}
	}
	return found
}
