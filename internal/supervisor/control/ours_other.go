//go:build !unix

package control

import "io/fs"

// isOurs is true: folders below the user's own are for the user alone.
func isOurs(fs.FileInfo) bool { return true }
