//go:build !unix

package fingerprint

import (
	"os"
	"path/filepath"
)

// root is a directory.
type root string

func openRoot(dir string) (root, error) {
	_, err := os.Stat(dir)
	return root(dir), err
}

func (root) close() {}

func (r root) stat(name string) stat {
	info, err := os.Lstat(filepath.Join(string(r), filepath.FromSlash(name)))
	if err != nil {
		return stat{}
	}
	return stat{
		size: info.Size(), modified: info.ModTime().UnixNano(), mode: uint32(info.Mode()), directory: info.IsDir(),
	}
}
