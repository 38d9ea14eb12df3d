package itemfolder

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// watcher knows which files of a directory have changed. The kernel queues an event before the call
// that changed a file returns, and changed empties the queue before it returns; so what it reports
// is exact, without a goroutine or a wait.
type watcher struct {
	fd     int
	buffer [16 << 10]byte
}

// events are all ways in which a file can come, go, or get other content.
const events = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// isLocal reports whether a file system is one that only this kernel changes.
// Others (network mounts, FUSE) can change without an event.
func isLocal(kind int64) bool {
	const zfs, bcachefs = 0x2fc12fc1, 0xca451a4e
	switch kind {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC,
		unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfs, bcachefs:
		return true
	}
	return false
}

// watch watches the directory at path; nil if that cannot be done reliably.
func watch(path string) *watcher {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil || !isLocal(int64(fs.Type)) { //nolint:unconvert // its type differs between architectures
		return nil
	}
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil
	}
	if _, err := unix.InotifyAddWatch(fd, path, events|unix.IN_ONLYDIR); err != nil {
		_ = unix.Close(fd)
		return nil
	}
	return &watcher{fd: fd}
}

// changed returns the names of the files that may have changed since the last
// call. If ok is false, that is not known, and the watcher is of no more use.
func (w *watcher) changed() (names []string, ok bool) {
	for {
		n, err := unix.Read(w.fd, w.buffer[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return names, true
		case err != nil || n <= 0:
			return nil, false
		}
		if names, ok = appendNames(names, w.buffer[:n]); !ok {
			return nil, false
		}
	}
}

// appendNames appends the names in the events of buffer. It reports whether the directory is still
// the one that is watched, and no event was lost.
func appendNames(names []string, buffer []byte) ([]string, bool) {
	const over = unix.IN_Q_OVERFLOW | unix.IN_IGNORED | unix.IN_UNMOUNT | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
	const (
		maskAt   = unsafe.Offsetof(unix.InotifyEvent{}.Mask)
		lengthAt = unsafe.Offsetof(unix.InotifyEvent{}.Len)
	)
	for len(buffer) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(buffer[maskAt:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[lengthAt:]))
		if mask&over != 0 || end > len(buffer) {
			return nil, false
		}
		name, _, _ := bytes.Cut(buffer[unix.SizeofInotifyEvent:end], []byte{0})
		if len(name) > 0 && (len(names) == 0 || names[len(names)-1] != string(name)) {
			names = append(names, string(name))
		}
		buffer = buffer[end:]
	}
	return names, true
}

func (w *watcher) close() error { return os.NewSyscallError("close", unix.Close(w.fd)) }
