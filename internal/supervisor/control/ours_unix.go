//go:build unix

package control

import (
	"io/fs"
	"os"
	"syscall"
)

// isOurs reports whether only this user can enter a directory.
func isOurs(info fs.FileInfo) bool {
	return info.IsDir() && owned(info) && info.Mode().Perm()&0o077 == 0
}

// isOurSocket reports whether a file is a socket of this user.
func isOurSocket(info fs.FileInfo) bool {
	return info.Mode()&fs.ModeSocket != 0 && owned(info)
}

func owned(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
