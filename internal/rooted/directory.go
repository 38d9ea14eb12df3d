package rooted

import (
	"io/fs"
	"os"
)

// Directory is the path of a directory whose files are opened one at a time. The
// directory is opened for each call, so it may be replaced in between. A Directory is a
// cachedfile.Directory.
type Directory string

// Stat returns the file at the end of links.
func (f Directory) Stat(name string) (fs.FileInfo, error) {
	root, err := Open(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(name)
}

// Lstat returns the file itself, even if it is a link.
func (f Directory) Lstat(name string) (fs.FileInfo, error) {
	root, err := Open(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Lstat(name)
}

// Open opens a file for reading.
func (f Directory) Open(name string) (*os.File, error) {
	root, err := Open(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Open(name)
}

// Read returns the content of a file, which has at most limit bytes.
func (f Directory) Read(name string, limit int64) ([]byte, error) {
	root, err := Open(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Read(name, limit)
}
