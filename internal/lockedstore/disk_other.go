//go:build !windows

package lockedstore

import "os"

func rename(root *os.Root, from, to string) error { return root.Rename(from, to) }

// syncFolder waits until the names in a directory are on disk.
func syncFolder(root *os.Root, name string) error {
	folder, err := root.Open(name)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
