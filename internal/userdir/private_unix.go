//go:build unix

package userdir

import (
	"os"
	"syscall"
)

// private reports whether a directory belongs to this user, and nobody else can enter it.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
