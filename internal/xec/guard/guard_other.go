//go:build unix && !linux

package guard

import (
	"os"
	"syscall"
	"time"

	"github.com/copse-dev/copse/internal/xec/family"
)

func name() {}

func adoptOrphans() {}

// executable returns the file that this process runs.
//
//nolint:forbidigo // a guard is a program of its own
func executable() (string, error) { return os.Executable() }

// leader makes the program the leader of a session.
func leader() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// every is how often a tracker looks.
const every = 250 * time.Millisecond

// tracker remembers the processes below this one, since an orphan is not below it.
type tracker struct {
	tick  *time.Ticker
	known map[int]string // the start of each
}

func (t *tracker) next() <-chan time.Time {
	if t.tick == nil {
		t.tick = time.NewTicker(every)
	}
	return t.tick.C
}

func (t *tracker) look() {
	if t.known == nil {
		t.known = make(map[int]string)
	}
	for pid, started := range t.known {
		if family.Started(pid) != started {
			delete(t.known, pid)
		}
	}
	for _, p := range family.Descendants(os.Getpid()) {
		if started := family.Started(p.Pid); started != "" {
			t.known[p.Pid] = started
		}
		_ = p.Release()
	}
}

func (t *tracker) signal(s syscall.Signal) {
	for pid, started := range t.known {
		if p := family.Find(pid, started); p != nil {
			_ = p.Signal(s)
			_ = p.Release()
		}
	}
}

func (t *tracker) gone() bool {
	for pid, started := range t.known {
		if family.Started(pid) == started {
			return false
		}
	}
	return true
}
