package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/copse-dev/copse/internal/item/gitmerge"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/writer"
	"github.com/copse-dev/copse/internal/item/merge/driver"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

const attributesName = ".gitattributes"

// RegisterDriver makes git merge the files of the store with a command, in this clone: it writes
// the attributes of the store, and the configuration of the repository.
func (s *Store) RegisterDriver(ctx context.Context, command string) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	repo, err := s.openRepo(ctx, f)
	if err != nil {
		return err
	}
	if repo == nil {
		return gitmerge.ErrNoRepository
	}
	err = f.Change(ctx, func(w *writer.Writer) error {
		old, err := regular.ReadIn(w.Tx.Root(), attributesName, layout.MaxOwnFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s cannot be read: %w", attributesName, rooted.WithoutPath(err))
		}
		text := driver.WithAttributes(string(old))
		if text == string(old) {
			return nil
		}
		return w.Tx.Write(lockedstore.File{Name: attributesName, Data: []byte(text)})
	})
	if err != nil {
		return err
	}
	return repo.SetDriver(ctx, driver.Name, command)
}

// InRepository reports whether the store is in a git worktree, so that it can be
// committed.
func (s *Store) InRepository(ctx context.Context) bool {
	f, err := s.find(ctx)
	if err != nil {
		return false
	}
	repo, err := s.openRepo(ctx, f)
	return err == nil && repo != nil
}
