//go:build !unix

package itemfolder

import "os"

const openFlags = os.O_RDONLY
