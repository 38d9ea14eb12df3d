//go:build !unix

package refstore

import (
	"os"
	"path/filepath"
)

// readSmall reads a file of dir. Anything but a file is an error.
func readSmall(dir *os.File, name string, _ []byte) ([]byte, error) {
	return os.ReadFile(filepath.Join(dir.Name(), name))
}
