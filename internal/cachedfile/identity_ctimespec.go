//go:build darwin || freebsd || netbsd

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
	return Identity{Device: uint64(st.Dev), Inode: st.Ino, Changed: st.Ctimespec.Nano()}
}
