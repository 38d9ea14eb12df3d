package itemdir

import (
	"io/fs"
	"time"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// stamp is what stat tells about the content of a file.
type stamp struct {
	size     int64
	modified int64 // nanoseconds since 1970
	inode    uint64
	changed  int64 // as modified; a time that no program can set
}

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size(), modified: info.ModTime().UnixNano()}
	_, s.inode, s.changed = cachedfile.Identity(info)
	return s
}

// clockStep is more than the file system's clock can lag behind ours, plus the
// coarsest of its ticks.
const clockStep = 3 * time.Second

// settled reports whether a stamp taken at that time changes with each later change of the file. It
// does not while another change could fall into the same tick.
func (s stamp) settled(at time.Time) bool {
	return time.Unix(0, max(s.modified, s.changed)).Add(clockStep).Before(at)
}
