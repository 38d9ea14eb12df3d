//go:build unix

package app

import (
	"os"
	"syscall"
)

// private reports whether a directory exists and only this user can enter it.
func private(path string, uid int) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == uid
}
