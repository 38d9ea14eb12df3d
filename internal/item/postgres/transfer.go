package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/archive"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/postgres/write"
	"github.com/copse-dev/copse/internal/item/storage"
)

// moveTime is how long the database may take to take in or give out a whole project.
const moveTime = 10 * time.Minute

// Leave calls do with everything that the project keeps while nobody else changes it, and
// records the store that do returns as the place of the items from then on. If do fails,
// nothing is recorded. A project that was left is left again only for unfinished, the place of
// an interrupted move; "" for none.
func (s *Store) Leave(ctx context.Context, unfinished string, do func(archive.Archive) (to string, err error)) error {
	_, _, err := s.changeMoving(ctx, moveTime, func(w *write.Writer) (item.ID, error) {
		if err := w.Project.Moved.Err(); err != nil && !w.Project.Moved.Is(moved.Mark{To: unfinished}) {
			return 0, err
		}
		all, err := w.Archive()
		if err != nil {
			return 0, err
		}
		to, err := do(all)
		if err != nil {
			return 0, err
		}
		w.SetMoved(moved.Mark{To: to})
		return 0, nil
	})
	return err
}

// Enter creates the project from the content of the store with the name from, in one transaction,
// and compares the result with it. The project accepts changes after [Store.Arrive]. A project that
// already has the same stays; one that is not in use, or never had an item, is replaced. Any other
// is an error.
func (s *Store) Enter(ctx context.Context, from string, all archive.Archive) error {
	var project int64
	err := s.db.Transaction(ctx, moveTime, nil, func(ctx context.Context, tx pgx.Tx, _ bool) error {
		name, err := s.name()
		if err != nil {
			return err
		}
		project, err = write.Enter(ctx, tx, name, from, all, s.space)
		return err
	})
	if err == nil && project != 0 {
		s.announcer.Changed(project)
	}
	return err
}

// Arriving reports whether a move to the project has not ended.
func (s *Store) Arriving(ctx context.Context) (arriving bool, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		p, err := s.project(ctx, db)
		if errors.Is(err, storage.ErrNoProject) {
			return nil
		}
		arriving = p.Moved.From != ""
		return err
	})
	return arriving, err
}

// Arrive ends a move to the project from another store, which accepts no more changes.
func (s *Store) Arrive(ctx context.Context) error {
	_, _, err := s.changeMoving(ctx, 0, func(w *write.Writer) (item.ID, error) {
		if w.Project.Moved.From == "" {
			return 0, w.Project.Moved.Err()
		}
		w.SetMoved(moved.Mark{})
		return 0, nil
	})
	return err
}
