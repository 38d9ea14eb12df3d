// Package row reads the rows of work items, their claims, and their histories. A statement that
// selects the columns of a constant of this package scans them with the function of that name.
package row

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Querier reads: the pool, a connection, or a transaction.
type Querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// Project is the row of a project.
type Project struct {
	ID      int64
	Name    string
	Version int64
	Config  item.Config
	Moved   moved.Mark
	InUse   bool      // it has no mark of a move
	Now     time.Time // of the database
}

// ProjectColumns returns the columns of [Project.Scan], of the table with the alias p.
func ProjectColumns() string {
	return "p.id, p.version, p.next_id, " + lists("p.types", "p.statuses", "p.done_statuses", "p.iterations") + ", " +
		texts("p.current_iteration", "p.moved") + ", pg_catalog.clock_timestamp()"
}

// SelectProject selects the [ProjectColumns] of the project with a name.
func SelectProject() string {
	return "select " + ProjectColumns() + " from copse.project p where p.name = $1"
}

// Name returns the column with the name of a project.
func Name() string { return texts("name") }

// Scan reads the row of the project with the name of p. Without one, the error is an
// [*storage.NoProjectError].
func (p *Project) Scan(r pgx.Row) error {
	c := &p.Config
	var mark string
	err := r.Scan(&p.ID, &p.Version, &c.NextID, &c.Types, &c.Statuses, &c.DoneStatuses, &c.Iterations, &c.CurrentIteration, &mark, &p.Now)
	if errors.Is(err, pgx.ErrNoRows) {
		return &storage.NoProjectError{Name: p.Name}
	}
	if err != nil {
		return err
	}
	for _, list := range []*[]string{&c.Types, &c.Statuses, &c.DoneStatuses, &c.Iterations} {
		*list = sqltext.DecodeAll(*list)
	}
	c.CurrentIteration = sqltext.Decode(c.CurrentIteration)
	p.InUse, p.Moved = mark == "", moved.Mark{}
	if mark != "" {
		p.Moved = moved.Parse(sqltext.Decode(mark))
	}
	return nil
}

// FindProject returns the project with a name.
func FindProject(ctx context.Context, db Querier, name string) (Project, error) {
	p := Project{Name: name}
	err := p.Scan(db.QueryRow(ctx, SelectProject(), sqltext.Encode(name)))
	return p, err
}
