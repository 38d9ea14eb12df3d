package lockedstore

import (
	"bytes"
	"errors"
	"io/fs"
	"os"

	"github.com/copse-dev/copse/internal/regular"
)

// put puts a staged file at a name whose content is before. If another program has changed the file
// in the meantime, the error is ErrChanged, and that program's file stays.
func put(disk Disk, root *os.Root, staged, name string, before []byte) error {
	if _, err := root.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return putNew(disk, root, staged, name)
	}
	ours := look(root, staged)
	switch err := disk.Exchange(root, staged, name); {
	case errors.Is(err, errors.ErrUnsupported):
		if err := unchanged(root, name, before); err != nil {
			return err
		}
		return disk.Rename(root, staged, name)
	case errors.Is(err, fs.ErrNotExist):
		return ErrChanged
	case err != nil:
		return err
	}
	if taken := look(root, staged); taken.regular && bytes.Equal(taken.data, before) {
		_ = disk.Remove(root, staged) // if not, the next Replace removes it
		return nil
	}
	return putBack(disk, root, staged, name, ours)
}

// putNew puts a staged file at a free name.
func putNew(disk Disk, root *os.Root, staged, name string) error {
	switch err := disk.Link(root, staged, name); {
	case err == nil:
		_ = disk.Remove(root, staged)
		return nil
	case errors.Is(err, fs.ErrExist):
		return ErrChanged
	default: // a file system without links
		return disk.Rename(root, staged, name)
	}
}

// putBack restores the file that ours has replaced. If that in turn replaces a newer file of
// another program, putBack restores that one, and so on.
func putBack(disk Disk, root *os.Root, staged, name string, ours content) error {
	const attempts = 1000 // somebody would have to win the race every time
	for range attempts {
		older := look(root, staged)
		err := disk.Exchange(root, staged, name)
		if errors.Is(err, fs.ErrNotExist) {
			return ErrChanged // somebody has removed the file
		}
		if err != nil {
			return err
		}
		if look(root, staged).equal(ours) {
			return ErrChanged
		}
		ours = older
	}
	return ErrChanged
}

// content is the content of a file at some moment.
type content struct {
	info    fs.FileInfo
	regular bool
	data    []byte
}

func look(root *os.Root, name string) content {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return content{info: info}
	}
	data, err := regular.ReadIn(root, name, MaxEdit)
	return content{info: info, regular: err == nil, data: data}
}

func (c content) equal(other content) bool {
	return os.SameFile(c.info, other.info) && c.regular == other.regular && bytes.Equal(c.data, other.data)
}
