//go:build unix

package fingerprint

import "golang.org/x/sys/unix"

// root is an open directory: access by names below it is faster than by long paths.
type root int

func openRoot(dir string) (root, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return root(fd), err
}

func (r root) close() { _ = unix.Close(int(r)) }

func (r root) stat(name string) stat {
	var s unix.Stat_t
	if unix.Fstatat(int(r), name, &s, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return stat{}
	}
	return stat{
		size: s.Size, modified: unix.TimespecToNsec(s.Mtim), changed: unix.TimespecToNsec(s.Ctim),
		inode: s.Ino, mode: uint32(s.Mode), directory: s.Mode&unix.S_IFMT == unix.S_IFDIR, //nolint:unconvert // other systems have other types
		linked: s.Mode&unix.S_IFMT == unix.S_IFREG && s.Nlink > 1,
	}
}
