//go:build !unix

package rooted

import "os"

const (
	openFlags       = os.O_RDONLY
	openFolderFlags = os.O_RDONLY
)
