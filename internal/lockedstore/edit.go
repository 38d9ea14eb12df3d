package lockedstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// MaxEdit is the size of the largest file that Edit takes.
const MaxEdit = 16 << 20

// Edit replaces the content of the file at path with what edit makes of it,
// while no other process edits it. A missing file is empty and is made; an error
// of edit changes nothing. A symbolic link at path is followed. The lock is
// beside the file, hidden and named after it; Edit waits for it as New says.
func Edit(ctx context.Context, path string, wait time.Duration, edit func(old []byte) ([]byte, error)) error {
	return change(ctx, path, wait, false, edit)
}

// EditPrivate is Edit for a file that its user alone may read.
func EditPrivate(ctx context.Context, path string, wait time.Duration, edit func(old []byte) ([]byte, error)) error {
	return change(ctx, path, wait, true, edit)
}

func change(ctx context.Context, path string, wait time.Duration, private bool, edit func(old []byte) ([]byte, error)) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, name := filepath.Split(path)
	store := New(filepath.Clean(folder), "."+name+".lock", wait)
	return store.Change(ctx, func(tx *Tx) error {
		old, err := readAll(tx.root, name)
		if err != nil {
			return fmt.Errorf("read %q: %w", name, WithoutPath(err))
		}
		changed, err := edit(old)
		if err != nil {
			return err
		}
		return tx.Write(File{Name: name, Data: changed, Private: private})
	})
}

func readAll(root *os.Root, name string) ([]byte, error) {
	switch info, err := root.Stat(name); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("it is not a regular file")
	case info.Size() > MaxEdit:
		return nil, fmt.Errorf("it has %d bytes, more than the %d that are edited", info.Size(), MaxEdit)
	}
	return root.ReadFile(name)
}
