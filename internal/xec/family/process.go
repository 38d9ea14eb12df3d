package family

// Process identifies a process for all time: the system gives its number to others.
type Process struct {
	PID   int    `json:"pid,omitempty"`
	Start string `json:"start,omitempty"`
	// Space is where the number has a meaning: a start of the system and, in a container,
	// the container. It is "" where the system does not tell.
	Space string `json:"space,omitempty"`
}

// Identify returns the process that has a number now.
func Identify(pid int) Process { return Process{PID: pid, Start: Started(pid), Space: space()} }

// Alive reports whether the process runs.
func (p Process) Alive() bool { return p.PID > 0 && p.Start != "" && Started(p.PID) == p.Start }

// Gone reports whether the process has ended. It is false where that cannot be known: the
// process was that of another machine, container or start of the system, or the system hides the
// processes of other accounts.
func (p Process) Gone() bool {
	if p.PID <= 0 || p.Start == "" || p.Space != space() {
		return false
	}
	now := Started(p.PID)
	return now != p.Start && (now != "" || !hidden(p.PID))
}
