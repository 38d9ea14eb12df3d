//go:build linux || dragonfly || openbsd || solaris

package cachedfile

import (
	"io/fs"
	"syscall"
)

func identityOf(info fs.FileInfo) Identity {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return Identity{}
	}
	device := uint64(st.Dev) //nolint:unconvert // Dev has another type on some of these systems
	return Identity{Device: device, Inode: st.Ino, Changed: st.Ctim.Nano()}
}
