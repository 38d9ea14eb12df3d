package userdir

import "os"

// private reports whether there is a directory: those in a user's profile are the user's.
func private(dir string) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
