//go:build !unix

package control

import "io/fs"

// isOurs returns true: the directory is below the user's own, which the system closes to others.
func isOurs(fs.FileInfo) bool { return true }

// isOurSocket returns true: a socket in such a directory is the user's.
func isOurSocket(fs.FileInfo) bool { return true }
