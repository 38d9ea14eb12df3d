package userdir

import "os"

// PrivateTo reports whether there is a directory: those in a user's profile are the user's.
func PrivateTo(dir string, _ int) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir()
}
