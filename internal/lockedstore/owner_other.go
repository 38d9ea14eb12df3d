//go:build !unix

package lockedstore

import (
	"io/fs"
	"os"
)

// inherit does nothing: elevated processes on Windows belong to the same account.
func inherit(*os.File, fs.FileInfo) {}

func inheritDir(*os.Root, string) {}
