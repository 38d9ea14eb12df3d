package lockedstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// MaxEdit is the size of the largest file that Edit takes.
const MaxEdit = 32 << 20 // some programs keep their history in their configuration

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

// EditIn is Edit for a file of a directory that is never left through a link. The file is
// no link, either: the error is rooted.ErrOutside.
func EditIn(ctx context.Context, dir rooted.Dir, name string, wait time.Duration, edit func(old []byte) ([]byte, error)) error {
	return changeIn(ctx, dir, name, wait, false, edit)
}

func change(ctx context.Context, path string, wait time.Duration, private bool, edit func(old []byte) ([]byte, error)) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	folder, name := filepath.Split(path)
	return changeIn(ctx, rooted.Dir{Wall: filepath.Clean(folder), Name: "."}, name, wait, private, edit)
}

func changeIn(ctx context.Context, dir rooted.Dir, name string, wait time.Duration, private bool, edit func(old []byte) ([]byte, error)) error {
	store := NewIn(dir, "."+name+".lock", wait)
	return store.Change(ctx, func(tx *Tx) error {
		if info, err := tx.root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return rooted.ErrOutside
		}
		old, err := regular.ReadIn(tx.root, name, MaxEdit)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %q: %w", name, WithoutPath(err))
		}
		changed, err := edit(old)
		if err != nil {
			return err
		}
		return tx.Write(File{Name: name, Data: changed, Private: private})
	})
}
