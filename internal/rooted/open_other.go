//go:build !unix

package rooted

import "os"

const openDirFlags = os.O_RDONLY

// WithTypes returns dir, which must be a directory.
func WithTypes(dir *os.File) (*os.File, error) {
	if info, err := dir.Stat(); err != nil || !info.IsDir() {
		_ = dir.Close()
		return nil, ErrNotDir
	}
	return dir, nil
}
