package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/postgres/write"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// name returns the name of the project.
func (s *Store) name() (string, error) {
	name, err := s.projectName()
	if err != nil {
		return "", &storage.StoreError{Problem: "copse cannot determine the project in the database: " + err.Error(), Next: "Name it in items.project in .copse.yml, or in the address as ?project=NAME."}
	}
	return name, nil
}

// project returns the row of the project.
func (s *Store) project(ctx context.Context, db *pgxpool.Pool) (row.Project, error) {
	name, err := s.name()
	if err != nil {
		return row.Project{}, err
	}
	return row.FindProject(ctx, db, name)
}

// Init creates the project unless it exists. The tables must be there.
func (s *Store) Init(ctx context.Context) (created bool, err error) {
	config, err := ticfile.ParseConfig(ticfile.NewConfig)
	if err != nil {
		return false, err
	}
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		name, err := s.name()
		if err != nil {
			return err
		}
		// One that already exists is not written to, so that a role that only reads is told
		// so and not refused.
		if _, err := s.project(ctx, db); !errors.Is(err, storage.ErrNoProject) {
			return err
		}
		c := config.Values()
		done, err := db.Exec(ctx, `insert into copse.project (name, types, statuses, iterations, current_iteration)
			values ($1, $2, $3, $4, $5) on conflict (name) do nothing`,
			sqltext.Encode(name), sqltext.EncodeAll(c.Types), sqltext.EncodeAll(c.Statuses), sqltext.EncodeAll(c.Iterations), sqltext.Encode(c.CurrentIteration))
		created = created || done.RowsAffected() > 0
		return err
	})
	return created, err
}

// Projects returns names of projects in the database that the role may see, in alphabetical order,
// and not those whose items were moved elsewhere.
func (s *Store) Projects(ctx context.Context, limit int) (names []string, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		rows, err := db.Query(ctx, "select "+row.Name()+" from copse.project where moved = '' order by name limit $1", limit)
		if err != nil {
			return err
		}
		names, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return sqltext.DecodeAll(names), err
}

// SetValues replaces the types or the statuses of the project: key is one of these words.
// Items keep values that are not in the list.
func (s *Store) SetValues(ctx context.Context, key string, values []string) error {
	if key != "types" && key != "statuses" {
		return fmt.Errorf("no list of values %q", key)
	}
	if values = item.SplitLabels(strings.Join(values, ",")); len(values) == 0 {
		return &item.InvalidError{Field: key, Problem: fmt.Sprintf("The %s may not be empty", key)}
	}
	_, _, err := s.change(ctx, func(w *write.Writer) (item.ID, error) {
		w.SetValues(key, values)
		return 0, nil
	})
	return err
}

// Check implements [storage.Store].
func (s *Store) Check(ctx context.Context) ([]item.Warning, error) {
	all, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	found := slices.Clone(config.Warnings)
	warn := func(it *item.Summary, format string, args ...any) {
		found = append(found, item.Warning{File: fmt.Sprintf("item %d", it.ID), Reason: fmt.Sprintf(format, args...)})
	}
	for _, it := range all.List(item.Config{}, item.Filter{All: true}) {
		for _, f := range []struct {
			what, value string
			valid       []string
		}{{"type", it.Type, config.Types}, {"status", it.Status, config.Statuses}, {"priority", it.Priority, item.Priorities()}} {
			if !slices.Contains(f.valid, f.value) {
				warn(it, "has the %s %q, which the project does not have; update the item", f.what, sqlerror.Clean(f.value))
			}
		}
		if _, err := all.Find(it.Parent); it.Parent != 0 && err != nil {
			warn(it, "has the parent #%d, which does not exist; update the item", it.Parent)
		}
		for _, id := range it.DependsOn {
			if _, err := all.Find(id); err != nil {
				warn(it, "depends on #%d, which does not exist; update the item", id)
			}
		}
	}
	if all.Largest() >= config.NextID {
		found = append(found, item.Warning{File: "project", Reason: fmt.Sprintf("would assign the number %d twice; ask the owner of the database to set next_id to more than %d", config.NextID, all.Largest())})
	}
	return found, nil
}

// Deleted implements [storage.Store].
func (s *Store) Deleted(ctx context.Context) ([]storage.Trashed, []item.Warning, error) {
	var found []storage.Trashed
	err := s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		found = nil
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		rows, err := row.Items(ctx, db, "i.project_id = $1 and i.state = 'deleted'", p.ID)
		for _, r := range rows {
			found = append(found, storage.Trashed{Summary: r.Summary, At: r.DeletedAt})
		}
		return err
	})
	return found, nil, err
}

// History implements [storage.Historian].
func (s *Store) History(ctx context.Context, id item.ID) (log []changes.Change, err error) {
	err = s.db.Do(ctx, func(ctx context.Context, db *pgxpool.Pool) error {
		p, err := s.project(ctx, db)
		if err != nil {
			return err
		}
		if id != 0 {
			if _, err := row.FindItem(ctx, db, p.ID, id, row.Live, row.Deleted); err != nil {
				return err
			}
		}
		log, err = row.History(ctx, db, p.ID, id)
		return err
	})
	return log, err
}

// Undo implements [storage.Historian].
func (s *Store) Undo(ctx context.Context, id item.ID, change string, steal bool) (undone changes.Change, err error) {
	_, _, err = s.change(ctx, func(w *write.Writer) (item.ID, error) {
		undone, err = w.Undo(id, change, steal)
		return id, err
	})
	return undone, err
}
