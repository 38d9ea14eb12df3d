package lockedstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged says that a file is not what it was when it was read.
var ErrChanged = errors.New("it was changed meanwhile")

// Replace puts a new content in the place of an old one, whole and on disk, for files of
// other programs, which know of no lock: nothing is left beside the file. If its content
// is not the old one any more, the error is ErrChanged. A missing file is an empty old
// one, and is made, with its folder, readable by its user alone. A symbolic link at path
// is followed.
func Replace(path string, before, after []byte) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, name := filepath.Split(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("make the folder of %q: %w", name, WithoutPath(err))
	}
	mode := fs.FileMode(0o600)
	now, err := os.ReadFile(path)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(path); err == nil {
			mode = info.Mode().Perm()
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read %q: %w", name, WithoutPath(err))
	}
	if !bytes.Equal(now, before) {
		return fmt.Errorf("replace %q: %w", name, ErrChanged)
	}
	if err := replace(folder, path, after, mode); err != nil {
		return fmt.Errorf("replace %q: %w", name, WithoutPath(err))
	}
	return nil
}

func replace(folder, path string, content []byte, mode fs.FileMode) (err error) {
	file, err := os.CreateTemp(folder, ".copse-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return err
	}
	if dir, openErr := os.Open(folder); openErr == nil {
		_ = dir.Sync() // not every system can
		_ = dir.Close()
	}
	return nil
}
