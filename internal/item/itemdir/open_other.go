//go:build !unix

package itemdir

import "os"

const openFlags = os.O_RDONLY
