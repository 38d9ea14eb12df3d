package elsewhere

import (
	"io/fs"
	"syscall"

	"github.com/copse-dev/copse/internal/regular"
)

// device is the last file system that was examined, and does not depend on the process.
type device struct {
	id    uint64
	known bool
}

// kernels reports whether a file lies in a file system of the kernel, wherever that is mounted. It asks the system only if
// the previous file lies in a different one.
func (d *device) kernels(path string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	id := uint64(stat.Dev) //nolint:unconvert // the type depends on the architecture
	if d.known && id == d.id {
		return false
	}
	if regular.Kernels(path) {
		return true
	}
	d.id, d.known = id, true
	return false
}
