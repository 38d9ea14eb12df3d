package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/sqlerror"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// Init makes the project unless there is one. The tables must be there.
func (s *Store) Init(ctx context.Context) (created bool, err error) {
	config, err := ticfile.ParseConfig(ticfile.NewConfig)
	if err != nil {
		return false, err
	}
	err = s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		// One that already exists is not written to, so that a role that only reads is told
		// so and not refused.
		if _, err := s.project(ctx, pool); !errors.Is(err, item.ErrNoProject) {
			return err
		}
		c := config.Values()
		done, err := pool.Exec(ctx, `insert into copse.project (name, types, statuses, iterations, current_iteration)
			values ($1, $2, $3, $4, $5) on conflict (name) do nothing`,
			sqltext.Encode(name), sqltext.EncodeAll(c.Types), sqltext.EncodeAll(c.Statuses), sqltext.EncodeAll(c.Iterations), sqltext.Encode(c.CurrentIteration))
		created = created || done.RowsAffected() > 0
		return err
	})
	return created, err
}

// Projects returns names of projects in the database that the role may see, in alphabetical order,
// and not those whose items were moved elsewhere.
func (s *Store) Projects(ctx context.Context, most int) (names []string, err error) {
	err = s.retry(ctx, s.o.AnswerTime, func(ctx context.Context, _ int) error {
		pool, err := s.prepared(ctx)
		if err != nil {
			return err
		}
		rows, err := pool.Query(ctx, "select name from copse.project where moved = '' order by name limit $1", most)
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
	_, _, err := s.change(ctx, func(w *writer) (item.ID, error) {
		w.queue("update copse.project set "+key+" = $2 where id = $1", w.id, sqltext.EncodeAll(values))
		return 0, nil
	})
	return err
}

// Check implements [item.Store].
func (s *Store) Check(ctx context.Context) ([]item.Warning, error) {
	all, err := s.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	config, err := s.Config(ctx)
	if err != nil {
		return nil, err
	}
	var found []item.Warning
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
