//go:build !unix

package refstore

import (
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/regular"
)

// readSmall reads a file of dir. Anything but a file is an error.
func readSmall(dir *os.File, name string, _ []byte) ([]byte, error) {
	return regular.Read(filepath.Join(dir.Name(), name), maxLoose)
}
