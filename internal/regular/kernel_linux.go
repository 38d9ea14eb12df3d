package regular

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// ofKernel reports whether the kernel makes up the content of the regular file at path, as below
// /proc. Such a file has a size of 0, and can have any amount of content, or wait.
func ofKernel(path string, info fs.FileInfo) bool {
	return info.Size() == 0 && Kernels(path)
}

// Kernels reports whether the file at path lies in a file system that the kernel makes up, such as
// /proc.
func Kernels(path string) bool {
	var system unix.Statfs_t
	if unix.Statfs(path, &system) != nil {
		return false
	}
	switch int64(system.Type) { //nolint:unconvert // the type depends on the architecture
	case unix.PROC_SUPER_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC:
		return true
	}
	return false
}
