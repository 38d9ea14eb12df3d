//go:build !unix

package ownership

import (
	"io/fs"
	"os"
)

// Give does nothing: elevated processes on Windows belong to the same account.
func Give(*os.File, fs.FileInfo) {}

// GiveDir does nothing.
func GiveDir(*os.Root, string) {}
