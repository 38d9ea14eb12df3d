package samedir

import (
	"os"

	"golang.org/x/sys/unix"
)

// identity tells a directory from any other, also from one that has its number after it was removed, if the file
// system knows when it was created.
type identity struct {
	device, inode uint64
	born          int64 // nanoseconds since 1970, 0 if unknown
}

// identify returns the identity of the directory at the end of a path.
func identify(path string) (identity, error) {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_NO_AUTOMOUNT, unix.STATX_INO|unix.STATX_BTIME, &st); err != nil {
		return identity{}, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	id := identity{device: unix.Mkdev(st.Dev_major, st.Dev_minor), inode: st.Ino}
	if st.Mask&unix.STATX_BTIME != 0 {
		id.born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	return id, nil
}

func (i identity) same(other identity) bool { return i == other }
