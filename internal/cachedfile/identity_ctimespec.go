//go:build darwin || freebsd || netbsd

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
	return identity{device: uint64(st.Dev), inode: st.Ino, changed: st.Ctimespec.Nano()}
}
