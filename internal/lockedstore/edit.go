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

// MaxEdit is the maximum size of a file that is edited.
const MaxEdit = 32 << 20 // some programs keep their history in their configuration

// EditPrivate replaces the content of the file at path, which only its user may read, with the result
// of edit, while no other process edits it. A missing file counts as empty and is created; if edit
// fails, nothing changes. EditPrivate follows a symbolic link at path. The lock is next to the file,
// hidden, and named after it; EditPrivate waits for it as described at New.
func EditPrivate(ctx context.Context, path string, wait time.Duration, edit func(old []byte) ([]byte, error)) error {
	return editAt(ctx, path, wait, File{Private: true}, edit)
}

// EditSecret edits a file as EditPrivate does. If root edits it, only root may read it afterward, also in the
// directory of another user.
func EditSecret(ctx context.Context, path string, wait time.Duration, edit func(old []byte) ([]byte, error)) error {
	return editAt(ctx, path, wait, File{Private: true, Secret: true}, edit)
}

func editAt(ctx context.Context, path string, wait time.Duration, file File, edit func(old []byte) ([]byte, error)) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	directory, name := filepath.Split(path)
	file.Name = name
	return changeIn(ctx, rooted.Dir{Wall: filepath.Clean(directory), Name: "."}, wait, file, edit)
}

// EditIn edits a file as EditPrivate does, for a file that others may read, in a directory that no
// link leaves. The file itself must not be a link, either: the error is rooted.ErrOutside.
func EditIn(ctx context.Context, dir rooted.Dir, name string, wait time.Duration, edit func(old []byte) ([]byte, error)) error {
	return changeIn(ctx, dir, wait, File{Name: name}, edit)
}

func changeIn(ctx context.Context, dir rooted.Dir, wait time.Duration, file File, edit func(old []byte) ([]byte, error)) error {
	name := file.Name
	store := NewIn(dir, "."+name+".lock", wait)
	return store.Change(ctx, func(tx *Tx) error {
		if info, err := tx.root.Lstat(name); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return rooted.ErrOutside
		}
		old, err := regular.ReadIn(tx.root, name, MaxEdit)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("read %q: %w", name, rooted.WithoutPath(err))
		}
		changed, err := edit(old)
		if err != nil {
			return err
		}
		if len(changed) > MaxEdit {
			return fmt.Errorf("%q is not changed: it would have %d bytes; the limit is %d", name, len(changed), MaxEdit)
		}
		file.Data = changed
		return tx.Write(file)
	})
}
