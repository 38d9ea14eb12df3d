// Package family finds the descendants of a process, and identifies a process by more than its
// number.
//
// [Descendants] and [Marked] return processes as handles, which always mean the process that was
// found: a signal never reaches another process that got the same number later. [Started] is the
// second half of an identity that can be written to a file: two processes may have the same number,
// but not the same number and the same start time.
package family

import "os"

// Descendants returns the children of a process, and theirs. The caller releases them.
func Descendants(pid int) []*os.Process {
	children := make(map[int][]int)
	for _, p := range processes() {
		parent := parentOf(p)
		children[parent] = append(children[parent], p)
	}
	var found []*os.Process
	seen := map[int]bool{pid: true}
	for next := []int{pid}; len(next) > 0; next = next[1:] {
		for _, child := range children[next[0]] {
			if seen[child] {
				continue
			}
			seen[child] = true
			// The number may belong to another process by now. The handle does not
			// change any further, so the check after it is final.
			if p, err := os.FindProcess(child); err == nil && parentOf(child) == next[0] {
				found = append(found, p)
			}
			next = append(next, child)
		}
	}
	return found
}

// Find returns the process with a number and a start, or nil if it has ended. The caller
// releases it.
func Find(pid int, started string) *os.Process {
	if pid <= 0 || started == "" {
		return nil
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil
	}
	if Started(pid) != started {
		_ = p.Release()
		return nil
	}
	return p
}
