package xec

import "os"

// descendants returns the children of a process, and theirs. They must be released.
func descendants(pid int) []*os.Process {
	children := map[int][]int{}
	for _, p := range processes() {
		parent := parentOf(p)
		children[parent] = append(children[parent], p)
	}
	var found []*os.Process
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, child := range children[next[0]] {
			// The number may be another process's by now; this one stays what it is.
			if p, err := os.FindProcess(child); err == nil && parentOf(child) == next[0] {
				found = append(found, p)
			}
			next = append(next, child)
		}
	}
	return found
}
