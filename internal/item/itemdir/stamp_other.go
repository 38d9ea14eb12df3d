//go:build !linux && !dragonfly && !openbsd && !solaris && !darwin && !freebsd && !netbsd

package itemdir

import "io/fs"

func identityOf(fs.FileInfo) (inode uint64, changed int64) { return 0, 0 }
