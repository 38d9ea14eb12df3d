package dirwatch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Watch is the queue of changes of some directories. It is for one goroutine at a time.
type Watch struct {
	fd     int
	buffer [16 << 10]byte
}

// events are all ways in which a file can come, go, or get other content.
const events = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF

// Open returns a watch of no directory yet. Close it after use.
func Open() (*Watch, error) {
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	return &Watch{fd: fd}, nil
}

// Close ends the watch.
func (w *Watch) Close() error { return os.NewSyscallError("close", unix.Close(w.fd)) }

// Add watches the directory at path, and nothing in directories below it. A symbolic
// link is [ErrUnsupported]. Adding a directory again returns the same Dir.
func (w *Watch) Add(path string) (Dir, error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	if !isLocal(int64(fs.Type)) { //nolint:unconvert // its type differs between architectures
		return 0, ErrUnsupported
	}
	id, err := unix.InotifyAddWatch(w.fd, path, events|unix.IN_ONLYDIR|unix.IN_DONT_FOLLOW)
	switch {
	case errors.Is(err, unix.ENOSPC):
		return 0, ErrFull
	case errors.Is(err, unix.ENOTDIR):
		return 0, ErrUnsupported
	case err != nil:
		return 0, &os.PathError{Op: "watch", Path: path, Err: err}
	}
	return Dir(id), nil //nolint:gosec // the kernel numbers watches with 32 bits
}

// Remove ends the watch of a directory. Changes that it had are still reported.
func (w *Watch) Remove(d Dir) {
	_, _ = unix.InotifyRmWatch(w.fd, uint32(d)) //nolint:gosec // as the kernel gave it
}

// Changed calls report for each change since the last call, in their order. The error is
// [ErrLost], or that of the system.
func (w *Watch) Changed(report func(Change)) error {
	for {
		n, err := unix.Read(w.fd, w.buffer[:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EAGAIN):
			return nil
		case err != nil:
			return os.NewSyscallError("read", err)
		case n <= 0:
			return ErrLost
		}
		if err := parse(w.buffer[:n], report); err != nil {
			return err
		}
	}
}

// parse reports the events in a buffer.
func parse(buffer []byte, report func(Change)) error {
	const (
		idAt     = unsafe.Offsetof(unix.InotifyEvent{}.Wd)
		maskAt   = unsafe.Offsetof(unix.InotifyEvent{}.Mask)
		lengthAt = unsafe.Offsetof(unix.InotifyEvent{}.Len)
		ended    = unix.IN_IGNORED | unix.IN_UNMOUNT | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF
		appeared = unix.IN_CREATE | unix.IN_MOVED_TO
	)
	for len(buffer) >= unix.SizeofInotifyEvent {
		mask := binary.NativeEndian.Uint32(buffer[maskAt:])
		end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(buffer[lengthAt:]))
		if mask&unix.IN_Q_OVERFLOW != 0 || end > len(buffer) {
			return ErrLost
		}
		name, _, _ := bytes.Cut(buffer[unix.SizeofInotifyEvent:end], []byte{0})
		report(Change{
			Dir: Dir(binary.NativeEndian.Uint32(buffer[idAt:])), Name: name, //nolint:gosec // as the kernel wrote it
			Made: mask&unix.IN_ISDIR != 0 && mask&appeared != 0, Ended: mask&ended != 0,
		})
		buffer = buffer[end:]
	}
	return nil
}

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

// limit returns how many directories one process takes at most: a part of what the system
// has for all programs of the user together.
func limit() int {
	const maximum, part = 32 << 10, 4
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return maximum / part
	}
	all := 0
	if _, err := fmt.Sscan(string(text), &all); err != nil {
		return maximum / part
	}
	return min(maximum, all/part)
}
