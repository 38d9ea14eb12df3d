package netrc

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/copse-dev/copse/internal/regular"
)

// ErrNotRegular is the error for a path that is a directory, pipe or device.
var ErrNotRegular = errors.New("not a regular file")

// Path returns the path of the netrc file: $NETRC, else .netrc in home. On Windows, it is _netrc in
// home if that exists and .netrc does not. It is empty if neither the variable nor home is set.
func Path(goos string, getenv func(string) string, home string) string {
	if p := getenv("NETRC"); p != "" {
		return p
	}
	if home == "" {
		return ""
	}
	p := filepath.Join(home, ".netrc")
	if goos == "windows" && !exists(p) {
		if alt := filepath.Join(home, "_netrc"); exists(alt) {
			return alt
		}
	}
	return p
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Read reads the file at path. It returns an *os.PathError that wraps an error of the file system,
// of Parse, or ErrNotRegular. It never waits for a pipe. The null device is an empty file, for
// users who set NETRC to it.
func Read(path string) (*File, error) {
	if path == os.DevNull {
		return &File{}, nil
	}
	data, err := regular.Read(path, MaxSize)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: cause(err)}
	}
	f, err := Parse(data)
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: path, Err: err}
	}
	return f, nil
}

// cause converts an error of the package regular to one of this package.
func cause(err error) error {
	if _, ok := errors.AsType[*regular.NotRegularError](err); ok {
		return ErrNotRegular
	}
	if _, ok := errors.AsType[*regular.TooLargeError](err); ok {
		return ErrTooLarge
	}
	if at, ok := errors.AsType[*os.PathError](err); ok {
		return at.Err
	}
	return err
}
