//go:build unix

package control

import (
	"io/fs"
	"os"
	"syscall"
)

// isOurs reports whether only this user can enter a folder.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid() && info.Mode().Perm()&0o077 == 0
}
