// Package regular reads files at absolute paths where a stranger may have put
// something else, and never waits or reads indefinitely.
//
// [Read] returns the content of a file, [Open] an open file. Both guarantee that
//
//   - only a regular file is opened: a named pipe, socket, device, or directory is a
//     [*NotRegularError], even if it replaces the file at the last moment.
//     Symbolic links are followed, and their target matters;
//   - no call blocks on the other end of a pipe, and none makes a terminal the controlling
//     one of this process;
//   - no file of the kernel is opened that looks regular, such as those below /proc;
//   - at most limit bytes are read, whatever size the system reports. A larger file
//     is a [*TooLargeError].
//
// Every error is an [*fs.PathError] that names the path. The package rooted reads files below
// a directory that nothing may leave, by the same
// rules: the two share [Flags], [OpenWith], and [ReadAll].
package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

// patience is how long a regular file may keep a reader waiting, if the system can detect that.
// Some files of the kernel look regular and wait for their next line.
const patience = time.Second

// minPiece and maxPiece are the sizes of the pieces of a file that has more bytes than it reports.
const (
	minPiece = 512
	maxPiece = 1 << 20
)

// NotRegularError reports that the file is not a regular file.
type NotRegularError struct {
	Mode fs.FileMode // type bits only
}

func (e *NotRegularError) Error() string { return "is a " + Kind(e.Mode) + ", not a regular file" }

// TooLargeError reports that a file exceeds the limit.
type TooLargeError struct {
	Size  int64 // at least; the file may be growing
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("has %d bytes; the limit is %d", e.Size, e.Limit)
}

// Kind returns the name of the type in a mode: "directory", "named pipe", "socket", "device",
// "symbolic link", "regular file", or "special file".
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "regular file"
	case mode.IsDir():
		return "directory"
	case mode&fs.ModeSymlink != 0:
		return "symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "named pipe"
	case mode&fs.ModeSocket != 0:
		return "socket"
	case mode&fs.ModeDevice != 0:
		return "device"
	default:
		return "special file"
	}
}

// Check returns the error of a file that is not regular, or has more than limit bytes.
func Check(info fs.FileInfo, limit int64) error {
	if !info.Mode().IsRegular() {
		return &NotRegularError{Mode: info.Mode().Type()}
	}
	if info.Size() > limit {
		return &TooLargeError{Size: info.Size(), Limit: limit}
	}
	return nil
}

// CheckAt checks the file at path, whose info is given, as Check does. It also refuses a file of
// the kernel, such as those below /proc, which look regular.
func CheckAt(path string, info fs.FileInfo, limit int64) error {
	if err := Check(info, limit); err != nil {
		return err
	}
	if ofKernel(path, info) {
		return &NotRegularError{Mode: fs.ModeIrregular}
	}
	return nil
}

// Open opens the file at path for reading. At that time, it has at most limit bytes.
func Open(path string, limit int64) (*os.File, error) {
	file, _, err := open(path, limit)
	return file, err
}

// Read returns the content of the file at path, which has at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	file, info, err := open(path, limit)
	if err != nil {
		return nil, err
	}
	return readClose(file, info, path, limit)
}

// ReadInDir returns the content of a file in a directory, as Read does, but follows no link that points
// outside the directory.
func ReadInDir(dir, name string, limit int64) ([]byte, error) {
	root, err := OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return ReadIn(root, name, limit)
}

// ReadIn returns Read for a file below a root, which no link leaves.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	file, info, err := OpenWith(name, func(info fs.FileInfo) error { return Check(info, limit) }, root.Stat, func(name string) (*os.File, error) {
		return root.OpenFile(name, Flags, 0)
	})
	if err != nil {
		return nil, err
	}
	return readClose(file, info, name, limit)
}

func readClose(file *os.File, info fs.FileInfo, name string, limit int64) ([]byte, error) {
	defer file.Close()
	data, err := ReadAll(file, info.Size(), limit)
	if err != nil {
		return nil, named("read", name, err)
	}
	return data, nil
}

func open(path string, limit int64) (*os.File, fs.FileInfo, error) {
	return OpenWith(path, func(info fs.FileInfo) error { return CheckAt(path, info, limit) }, os.Stat, func(path string) (*os.File, error) {
		return os.OpenFile(path, Flags, 0)
	})
}

// OpenWith opens a file that stat and open find, if check accepts it. It checks the file before
// opening it, because opening a device can have effects, and afterward, because it may have been
// replaced in between. open must use [Flags].
func OpenWith(name string, check func(fs.FileInfo) error, stat func(string) (fs.FileInfo, error), open func(string) (*os.File, error)) (*os.File, fs.FileInfo, error) {
	info, err := stat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := check(info); err != nil {
		return nil, nil, named("open", name, err)
	}
	file, err := open(name)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = check(info)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, named("open", name, err)
	}
	return file, info, nil
}

// ReadAll returns the rest of a file opened with [Flags]. size is the size that the system reports;
// more than limit bytes are a [*TooLargeError]. A file that has more bytes than it reports is read in
// pieces, so that an endless one never takes more memory than the limit.
func ReadAll(file *os.File, size, limit int64) ([]byte, error) {
	_ = file.SetReadDeadline(time.Now().Add(patience)) // an error on systems where nothing ever waits
	data := make([]byte, 0, min(max(size, 0), limit)+1)
	var full [][]byte // the pieces before data
	for read := int64(0); ; {
		if len(data) == cap(data) {
			full = append(full, data)
			data = make([]byte, 0, min(max(read, minPiece), maxPiece, limit+1-read))
		}
		n, err := file.Read(data[len(data):cap(data)])
		data, read = data[:len(data)+n], read+int64(n)
		switch {
		case read > limit:
			return nil, &TooLargeError{Size: read, Limit: limit}
		case err == io.EOF && full == nil:
			return data, nil
		case err == io.EOF:
			return slices.Concat(append(full, data)...), nil
		case err != nil:
			return nil, err
		}
	}
}

// named returns err as an error about the path.
func named(op, path string, err error) error {
	if about, ok := err.(*fs.PathError); ok { //nolint:errorlint // an error that wraps it has more information
		return about
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
