//go:build !unix

package local

import "os"

const openFlags = os.O_RDONLY
