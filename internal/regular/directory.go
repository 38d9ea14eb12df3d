package regular

import (
	"io/fs"
	"os"
	"slices"
	"strings"
)

// NotDirectoryError reports that a named pipe, socket, or device has the name of a directory.
type NotDirectoryError struct {
	Mode fs.FileMode // type bits only
}

func (e *NotDirectoryError) Error() string { return "is a " + Kind(e.Mode) + ", not a directory" }

// OpenRoot returns os.OpenRoot, which would wait for the other end of a named pipe. The error can
// be a [*NotDirectoryError].
func OpenRoot(path string) (*os.Root, error) {
	info, _ := os.Stat(path)
	if err := notSpecial(path, info); err != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}

// OpenRootIn returns root.OpenRoot, with the errors of [OpenRoot].
func OpenRootIn(root *os.Root, name string) (*os.Root, error) {
	info, _ := root.Stat(name)
	if err := notSpecial(name, info); err != nil {
		return nil, err
	}
	return root.OpenRoot(name)
}

// OpenDir opens a directory for listing or syncing. The error can be a [*NotDirectoryError], even
// if another file replaces the directory at the last moment.
func OpenDir(root *os.Root, name string) (*os.File, error) {
	info, _ := root.Stat(name)
	if err := notSpecial(name, info); err != nil {
		return nil, err
	}
	file, err := root.OpenFile(name, Flags, 0)
	if err != nil {
		return nil, err
	}
	info, _ = file.Stat()
	if err := notSpecial(name, info); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// OpenDirAt opens the directory at an absolute path for listing, with the errors of [OpenDir].
func OpenDirAt(path string) (*os.File, error) {
	file, err := os.OpenFile(path, Flags, 0)
	if err != nil {
		return nil, err
	}
	info, _ := file.Stat()
	if err := notSpecial(path, info); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// ReadDir returns os.ReadDir, which would wait for the other end of a named pipe. The error can be a
// [*NotDirectoryError].
func ReadDir(path string) ([]fs.DirEntry, error) {
	return list(OpenDirAt(path))
}

// ReadDirIn returns ReadDir for a directory below a root, which no link leaves.
func ReadDirIn(root *os.Root, name string) ([]fs.DirEntry, error) { return list(OpenDir(root, name)) }

func list(file *os.File, err error) ([]fs.DirEntry, error) {
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := file.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// notSpecial returns the error of a special file; info is nil if the file cannot be examined.
// Opening reports all other errors.
func notSpecial(name string, info fs.FileInfo) error {
	if info == nil || info.IsDir() || info.Mode().IsRegular() {
		return nil
	}
	return named("open", name, &NotDirectoryError{Mode: info.Mode().Type()})
}
