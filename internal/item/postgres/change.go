package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/write"
)

// change calls do with a writer, in a transaction, and commits what it did. do returns the
// item that it is about. If the answer of the commit is lost, the change is tried again,
// unless it is found to have been made: then replayed is true, and id is what do returned
// at that time. If the call is canceled during the commit, the store searches for the key, too.
func (s *Store) change(ctx context.Context, do func(*write.Writer) (item.ID, error)) (id item.ID, replayed bool, err error) {
	return s.changeMoving(ctx, 0, func(w *write.Writer) (item.ID, error) {
		if err := w.Project.Moved.Err(); err != nil {
			return 0, err
		}
		return do(w)
	})
}

// changeMoving is change for a move, which also changes a project that accepts no other changes. An
// attempt may take as long as limit, 0 for the time of an answer.
func (s *Store) changeMoving(ctx context.Context, limit time.Duration, do func(*write.Writer) (item.ID, error)) (id item.ID, replayed bool, err error) {
	key := uuid.NewString()
	project, used := int64(0), write.Used{}
	search := func(ctx context.Context, tx pgx.Tx) (bool, error) { return write.Made(ctx, tx, project, key) }
	err = s.db.Transaction(ctx, limit, search, func(ctx context.Context, tx pgx.Tx, uncertain bool) error {
		name, err := s.name()
		if err != nil {
			return err
		}
		w, err := write.Lock(ctx, tx, name)
		if err != nil {
			return err
		}
		if w.Rules, err = s.configOf(w.Project); err != nil {
			return err
		}
		project = w.Project.ID
		if uncertain {
			if id, replayed, err = w.Applied(key); replayed || err != nil {
				return err
			}
		}
		if id, err = do(w); err != nil {
			return err
		}
		w.Note(key, id)
		used, err = w.FlushWithin(s.space)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	s.space.Note(used)
	s.announcer.Changed(project)
	return id, replayed, nil
}
