//go:build unix

package lockedstore

import (
	"io/fs"
	"os"
	"path"
	"syscall"
)

// inherit gives a new file, or a directory, the owner of another one, if root has made it: after a command with
// sudo, the user's own programs can use it. Where that fails, root keeps it.
func inherit(file *os.File, from fs.FileInfo) {
	if stat, ok := from.Sys().(*syscall.Stat_t); ok && stat.Uid != 0 && os.Geteuid() == 0 {
		_ = file.Chown(int(stat.Uid), int(stat.Gid))
	}
}

// inheritDir gives a new directory the owner of the one above it, as inherit does.
func inheritDir(root *os.Root, name string) {
	if os.Geteuid() != 0 {
		return
	}
	dir, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0) // nothing else that came in its place
	if err != nil {
		return
	}
	defer dir.Close()
	if above, err := root.Stat(path.Dir(name)); err == nil {
		inherit(dir, above)
	}
}
