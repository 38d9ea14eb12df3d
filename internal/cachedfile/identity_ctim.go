//go:build linux || dragonfly || openbsd || solaris

package cachedfile

import (
	"io/fs"
	"syscall"
)

func identityOf(info fs.FileInfo) identity {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}
	}
	device := uint64(st.Dev) //nolint:unconvert // Dev has another type on some of these systems
	return identity{device: device, inode: st.Ino, changed: st.Ctim.Nano()}
}
