//go:build linux || dragonfly || openbsd || solaris

package itemdir

import (
	"io/fs"
	"syscall"
)

func identityOf(info fs.FileInfo) (inode uint64, changed int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino, st.Ctim.Nano()
	}
	return 0, 0
}
