package lockedstore

import (
	"os"

	"golang.org/x/sys/unix"
)

func exchange(root *os.Root, one, other string) error {
	return inDirectory(root, func(dir int) error {
		return unix.Renameat2(dir, one, dir, other, unix.RENAME_EXCHANGE)
	})
}
