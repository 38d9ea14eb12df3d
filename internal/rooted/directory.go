package rooted

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// Directory is the path of a directory whose files are opened one at a time. The
// directory is opened for each call, so it may be replaced in between. A Directory is a
// cachedfile.Directory.
type Directory string

// Stat returns the file at the end of links. If another process replaces a directory in the name
// with a link during the call, the result can be that of a file elsewhere, which is not opened: it is
// for deciding whether to read a file again.
func (f Directory) Stat(name string) (fs.FileInfo, error) { return f.stat(name, nil) }

// Look is a Directory for a short time, such as that of one call: it asks once for each directory in
// it whether that is a link. It is for one goroutine.
type Look struct {
	Directory
	directories map[string]bool // by name; none of them is a link
}

// NewLook begins a look.
func NewLook(f Directory) Look { return Look{f, map[string]bool{}} }

// Stat returns what [Directory.Stat] returns.
func (l Look) Stat(name string) (fs.FileInfo, error) { return l.stat(name, l.directories) }

func (f Directory) stat(name string, directories map[string]bool) (fs.FileInfo, error) {
	if info, err := f.plain(name, directories); !errors.Is(err, errNotPlain) {
		return info, err
	}
	root, err := Open(string(f))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.Stat(name)
}

// errNotPlain reports that a name has links or is unusual.
var errNotPlain = errors.New("not a plain name")

// plain returns what Stat returns, if the name leads only through directories. It takes one system
// call for each part of the name that is not one of directories, to which it adds the others, and a
// Root takes three for each. directories can be nil.
func (f Directory) plain(name string, directories map[string]bool) (info fs.FileInfo, err error) {
	if check(name) != nil || path.Clean(name) != name || !filepath.IsAbs(string(f)) {
		return nil, errNotPlain
	}
	for end := range len(name) + 1 {
		within := end < len(name)
		if within && (name[end] != '/' || directories[name[:end]]) {
			continue
		}
		info, err = os.Lstat(filepath.Join(string(f), filepath.FromSlash(name[:end])))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, WithoutPath(err)
		case err != nil, info.Mode()&fs.ModeSymlink != 0, within && !info.IsDir():
			return nil, errNotPlain
		case within && directories != nil:
			directories[name[:end]] = true
		}
	}
	return info, nil
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
