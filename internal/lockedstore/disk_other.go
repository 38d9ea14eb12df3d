//go:build !windows

package lockedstore

import (
	"os"

	"github.com/copse-dev/copse/internal/regular"
)

func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

// syncDir waits until the names in a directory are on disk.
func syncDir(root *os.Root, name string) error {
	directory, err := regular.OpenDir(root, name)
	if err != nil {
		return err
	}
	defer directory.Close()
	return directory.Sync()
}
