// Package regular reads files at absolute paths that a stranger may have put
// there, and never waits or reads without end.
//
// [Read] returns the content of a file, [Open] an open file. Both guarantee that
//
//   - only a regular file is opened: a named pipe, socket, device or directory is a
//     [*NotRegularError], also if it takes the file's place at the last moment.
//     Symbolic links are followed, and what they lead to is what counts;
//   - no call blocks on the other end of a pipe, and none makes a terminal that of
//     this process;
//   - at most limit bytes are read, whatever size the system reports. A larger file
//     is a [*TooLargeError].
//
// Every error is an [*fs.PathError] that names the path. Files below a directory
// that nothing may leave are read with the package rooted, which applies the same
// rules: [Flags], [Check] and [ReadAll] are shared.
package regular

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// patience is how long a regular file may keep a reader waiting where the system can
// tell. Some files of the kernel look regular and wait for their next line.
const patience = time.Second

// NotRegularError says that there is something, but no regular file.
type NotRegularError struct {
	Mode fs.FileMode // type bits only
}

func (e *NotRegularError) Error() string { return "is a " + Kind(e.Mode) + ", not a regular file" }

// TooLargeError says that a file has more bytes than are read.
type TooLargeError struct {
	Size  int64 // at least; the file may be growing
	Limit int64
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("has %d bytes, more than the %d that are read", e.Size, e.Limit)
}

// Kind names what a mode stands for: "directory", "named pipe", "socket", "device",
// "symbolic link", "regular file" or "special file".
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

// Open opens the file at path for reading. It has at most limit bytes at that time.
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
	defer file.Close()
	data, err := ReadAll(file, info.Size(), limit)
	if err != nil {
		return nil, named("read", path, err)
	}
	return data, nil
}

// ReadIn returns Read for a file below a root, which no link leaves.
func ReadIn(root *os.Root, name string, limit int64) ([]byte, error) {
	info, err := root.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := Check(info, limit); err != nil {
		return nil, named("open", name, err)
	}
	file, err := root.OpenFile(name, Flags, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err == nil {
		err = Check(info, limit)
	}
	if err != nil {
		return nil, named("open", name, err)
	}
	data, err := ReadAll(file, info.Size(), limit)
	if err != nil {
		return nil, named("read", name, err)
	}
	return data, nil
}

// open looks at what is there before opening it, because opening a device can have
// effects, and after, because it may have been replaced in between.
func open(path string, limit int64) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if err := Check(info, limit); err != nil {
		return nil, nil, named("open", path, err)
	}
	file, err := os.OpenFile(path, Flags, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = Check(info, limit)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, named("open", path, err)
	}
	return file, info, nil
}

// ReadAll returns what a file opened with [Flags] holds from here on. Size is what the
// system says that it holds; more than limit bytes are a [*TooLargeError].
func ReadAll(file *os.File, size, limit int64) ([]byte, error) {
	_ = file.SetReadDeadline(time.Now().Add(patience)) // an error where nothing ever waits
	data := make([]byte, 0, min(max(size, 0), limit)+1)
	for {
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := file.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		switch {
		case int64(len(data)) > limit:
			return nil, &TooLargeError{Size: int64(len(data)), Limit: limit}
		case err == io.EOF:
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

// named returns err as one about the path.
func named(op, path string, err error) error {
	if about, ok := err.(*fs.PathError); ok { //nolint:errorlint // one that wraps it says more
		return about
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}
