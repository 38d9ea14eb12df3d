//go:build unix

package ownership

import (
	"io/fs"
	"os"
	"path"
	"syscall"
)

// Give assigns a new file, or a directory, to the owner of another one, if root has made it. Where that fails,
// root keeps it.
func Give(file *os.File, from fs.FileInfo) {
	if stat, ok := from.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && os.Geteuid() == 0 {
		_ = file.Chown(int(stat.Uid), int(stat.Gid))
	}
}

// GiveDir assigns a new directory to the owner of the one above it, as Give does.
func GiveDir(root *os.Root, name string) {
	if os.Geteuid() != 0 {
		return
	}
	dir, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0) // nothing else that came in its place
	if err != nil {
		return
	}
	defer dir.Close()
	if above, err := root.Stat(path.Dir(name)); err == nil {
		Give(dir, above)
	}
}
