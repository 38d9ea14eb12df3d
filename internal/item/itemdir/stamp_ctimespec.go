//go:build darwin || freebsd || netbsd

package itemdir

import (
	"io/fs"
	"syscall"
)

func identityOf(info fs.FileInfo) (inode uint64, changed int64) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Ino, st.Ctimespec.Nano()
	}
	return 0, 0
}
