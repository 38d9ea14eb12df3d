// Package lockedstoretest records the order in which a change reaches the disk. The result of a
// loss of power depends only on that order, and no test can cut the power.
package lockedstoretest

import (
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/copse-dev/copse/internal/lockedstore"
)

// Recorder is a disk that does what the system's does and records each step. The zero value is
// ready to use.
type Recorder struct {
	lockedstore.System

	mu    sync.Mutex
	steps []string
}

var _ lockedstore.Disk = (*Recorder)(nil)

// Steps returns the steps so far, one per line:
//
//	content NAME   the content that NAME gets next is on disk
//	put NAME       NAME has that content
//	move A B       A is now B
//	remove NAME    NAME no longer exists
//	names DIR      the names in DIR are on disk
//
// Contents that become durable at the same time have no order, and neither have names: both are
// sorted.
func (r *Recorder) Steps() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	steps := slices.Clone(r.steps)
	for i := 0; i < len(steps); {
		verb, _, _ := strings.Cut(steps[i], " ")
		end := i + 1
		for end < len(steps) && strings.HasPrefix(steps[end], verb+" ") {
			end++
		}
		if verb == "content" || verb == "names" {
			slices.Sort(steps[i:end])
		}
		i = end
	}
	return strings.Join(steps, "\n") + "\n"
}

// Reset forgets the steps so far.
func (r *Recorder) Reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps = nil
}

func (r *Recorder) record(step string, err error) error {
	if err == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.steps = append(r.steps, step)
	}
	return err
}

// Sync implements lockedstore.Disk.
func (r *Recorder) Sync(file *os.File, name string) error {
	return r.record("content "+name, r.System.Sync(file, name))
}

// Rename implements lockedstore.Disk.
func (r *Recorder) Rename(root *os.Root, from, to string) error {
	step := "move " + from + " " + to
	if lockedstore.Temporary(from) {
		step = "put " + to
	}
	return r.record(step, r.System.Rename(root, from, to))
}

// Exchange implements lockedstore.Disk.
func (r *Recorder) Exchange(root *os.Root, one, other string) error {
	return r.record("put "+other, r.System.Exchange(root, one, other))
}

// Link implements lockedstore.Disk.
func (r *Recorder) Link(root *os.Root, old, name string) error {
	return r.record("put "+name, r.System.Link(root, old, name))
}

// Remove implements lockedstore.Disk. The removal of temporary files has no order.
func (r *Recorder) Remove(root *os.Root, name string) error {
	if lockedstore.Temporary(name) {
		return r.System.Remove(root, name)
	}
	return r.record("remove "+name, r.System.Remove(root, name))
}

// SyncDir implements lockedstore.Disk.
func (r *Recorder) SyncDir(root *os.Root, name string) error {
	return r.record("names "+name, r.System.SyncDir(root, name))
}
