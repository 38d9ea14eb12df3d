package rooted

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/regular"
)

// Read returns the content of a file, which has at most limit bytes. The error can
// be ErrOutside, a *NotRegularError or a *TooLargeError.
func (r *Root) Read(name string, limit int64) ([]byte, error) {
	file, info, err := r.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info.Size() > limit {
		return nil, &TooLargeError{Size: info.Size(), Limit: limit}
	}
	data, err := regular.ReadAll(file, info.Size(), limit)
	if large, ok := errors.AsType[*regular.TooLargeError](err); ok { // it has grown, or does not report its size
		return nil, &TooLargeError{Size: large.Size, Limit: limit}
	}
	return data, r.reason(err)
}

// Open opens a file for reading.
func (r *Root) Open(name string) (*os.File, error) {
	file, _, err := r.open(name)
	return file, err
}

// open opens a regular file.
func (r *Root) open(name string) (*os.File, fs.FileInfo, error) {
	if file, info := r.openPlain(name); file != nil {
		return file, info, nil
	}
	file, info, err := regular.OpenWith(name, onlyRegular, r.Stat, func(name string) (*os.File, error) { return r.openFile(name, regular.Flags) })
	return file, info, WithoutPath(err)
}

// openPlain opens a file that is not a link, and resolves its path only once. It leaves unusual
// cases to others, and returns a nil file for them.
func (r *Root) openPlain(name string) (file *os.File, info fs.FileInfo) {
	if check(name) != nil {
		return nil, nil
	}
	directory, err := regular.OpenRootIn(r.root, path.Dir(name))
	if err != nil {
		return nil, nil
	}
	defer directory.Close()
	base := path.Base(name)
	if before, err := directory.Lstat(base); err != nil || !before.Mode().IsRegular() {
		return nil, nil
	}
	if file, err = directory.OpenFile(base, regular.Flags, 0); err != nil {
		return nil, nil
	}
	if info, err = file.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = file.Close()
		return nil, nil
	}
	return file, info
}

func (r *Root) openFile(name string, flags int) (file *os.File, err error) {
	err = r.follow(name, func(name string) (err error) {
		file, err = r.root.OpenFile(name, flags, 0)
		return err
	})
	return file, err
}

// Stat describes the file at the end of links.
func (r *Root) Stat(name string) (info fs.FileInfo, err error) {
	err = r.follow(name, func(name string) (err error) {
		info, err = r.root.Stat(name)
		return err
	})
	return info, err
}

// Lstat describes the file itself, even if it is a link.
func (r *Root) Lstat(name string) (info fs.FileInfo, err error) {
	if err := check(name); err != nil {
		return nil, err
	}
	err = r.follow(path.Dir(name), func(dir string) (err error) {
		info, err = r.root.Lstat(path.Join(dir, path.Base(name)))
		return err
	})
	return info, err
}

// ReadDir lists a directory by name. The error can be ErrNotDir.
func (r *Root) ReadDir(name string) ([]fs.DirEntry, error) {
	dir, err := r.openDir(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	list, err := dir.ReadDir(-1)
	if err != nil {
		return nil, r.reason(err)
	}
	for i, found := range list {
		list[i] = entry{DirEntry: found, root: r, dir: name}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, nil
}

// openDir opens a directory.
func (r *Root) openDir(name string) (*os.File, error) {
	dir, err := r.openFile(name, openDirFlags)
	if err != nil {
		if info, statErr := r.Stat(name); statErr == nil && !info.IsDir() {
			return nil, ErrNotDir
		}
		return nil, err
	}
	return WithTypes(dir)
}

// entry is a part of a directory. The library's own type would look up its Info at an absolute
// path, which may point outside by then.
type entry struct {
	fs.DirEntry
	root *Root
	dir  string
}

func (e entry) Info() (fs.FileInfo, error) { return e.root.Lstat(path.Join(e.dir, e.Name())) }
