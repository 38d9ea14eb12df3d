//go:build !unix

package control

import "io/fs"

// isOurs is true: the directory is below the user's own, which the system closes to others.
func isOurs(fs.FileInfo) bool { return true }

// isOurSocket is true: a socket in such a directory is the user's.
func isOurSocket(fs.FileInfo) bool { return true }
