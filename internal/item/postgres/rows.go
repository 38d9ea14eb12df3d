package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/moved"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
)

// project is the row of a project.
type project struct {
	id      int64
	name    string
	version int64
	config  item.Config
	moved   moved.Mark
	mark    string    // the text of moved; "" for none
	now     time.Time // of the database
}

const projectColumns = "p.id, p.version, p.next_id, p.types, p.statuses, p.done_statuses, p.iterations, p.current_iteration, p.moved, clock_timestamp()"

// fields returns what projectColumns are scanned into.
func (p *project) fields() []any {
	c := &p.config
	return []any{
		&p.id, &p.version, &c.NextID, &c.Types, &c.Statuses, &c.DoneStatuses, &c.Iterations, &c.CurrentIteration,
		&p.mark, &p.now,
	}
}

// decode turns the texts of a scanned project into its own.
func (p *project) decode() {
	c := &p.config
	for _, list := range []*[]string{&c.Types, &c.Statuses, &c.DoneStatuses, &c.Iterations} {
		*list = sqltext.DecodeAll(*list)
	}
	c.CurrentIteration = sqltext.Decode(c.CurrentIteration)
	p.moved = moved.Mark{}
	if p.mark != "" {
		p.moved = moved.Parse(sqltext.Decode(p.mark))
	}
}

// project returns the project.
func (s *Store) project(ctx context.Context, db querier) (project, error) {
	name, err := s.name()
	if err != nil {
		return project{}, err
	}
	p := project{name: name}
	err = p.scan(db.QueryRow(ctx, selectProject, sqltext.Encode(name)))
	return p, err
}

const selectProject = "select " + projectColumns + " from copse.project p where p.name = $1"

// scan reads the row of the project with the name of p.
func (p *project) scan(r pgx.Row) error {
	err := r.Scan(p.fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return &item.NoProjectError{Name: p.name}
	}
	p.decode()
	return err
}

// name returns the name of the project.
func (s *Store) name() (string, error) {
	name, err := s.o.Project()
	if err != nil {
		return "", &item.StoreError{Problem: "the project in the database is unknown: " + err.Error(), Next: "Name it in items.project in .copse.yml, or in the address as ?project=NAME."}
	}
	return name, nil
}

// The states of an item.
const (
	live    = "live"
	deleted = "deleted"
	purged  = "purged"
)

// row is the row of an item.
type row struct {
	item.Item
	state   string
	deleted string // when
	lost    lost
}

// lost is what the deletion of an item took from others.
type lost struct{ children, dependents []item.ID }

const itemColumns = `i.id, i.state, i.deleted, i.title, i.type, i.status, i.iteration, i.priority, i.assignee, i.labels, i.parent,
	i.depends_on, i.description, i.created, i.updated, i.branch, i.worktree, i.pull_request, i.lost_children, i.lost_dependents,
	i.former, i.former_on`

// scanned is what itemColumns are scanned into.
type scanned struct {
	row
	dependsOn, former, children, dependents []int64
	formerOn                                []string
}

func (r *scanned) fields() []any {
	return []any{
		&r.ID, &r.state, &r.deleted, &r.Title, &r.Type, &r.Status, &r.Iteration, &r.Priority, &r.Assignee, &r.Labels, &r.Parent,
		&r.dependsOn, &r.Description, &r.Created, &r.Updated, &r.Link.Branch, &r.Link.Worktree, &r.Link.PullRequest,
		&r.children, &r.dependents, &r.former, &r.formerOn,
	}
}

// decode returns the row of a scanned one.
func (r *scanned) decode() row {
	for _, s := range []*string{
		&r.Title, &r.Type, &r.Status, &r.Iteration, &r.Priority, &r.Assignee, &r.Description, &r.Created, &r.Updated,
		&r.Link.Branch, &r.Link.Worktree, &r.Link.PullRequest,
	} {
		*s = sqltext.Decode(*s)
	}
	r.Labels = sqltext.DecodeAll(r.Labels)
	r.DependsOn, r.lost = sqltext.IDs(r.dependsOn), lost{sqltext.IDs(r.children), sqltext.IDs(r.dependents)}
	for i, id := range r.former {
		f := item.Former{ID: item.ID(id)}
		if i < len(r.formerOn) {
			f.On = r.formerOn[i]
		}
		r.Former = append(r.Former, f)
	}
	return r.row
}

// wholeColumns are itemColumns with the comments of the item.
const (
	wholeColumns = itemColumns + ", array(select c.author" + inOrder + ", array(select c.date" + inOrder + ", array(select c.body" + inOrder
	inOrder      = " from copse.comment c where c.project_id = i.project_id and c.item_id = i.id order by c.seq)"
)

// whole is what wholeColumns are scanned into.
type whole struct {
	scanned
	authors, dates, bodies []string
}

func (r *whole) fields() []any { return append(r.scanned.fields(), &r.authors, &r.dates, &r.bodies) }

func (r *whole) decode() row {
	for i := range min(len(r.authors), len(r.dates), len(r.bodies)) {
		r.Comments = append(r.Comments, item.Comment{Author: sqltext.Decode(r.authors[i]), Date: sqltext.Decode(r.dates[i]), Body: sqltext.Decode(r.bodies[i])})
	}
	return r.scanned.decode()
}

// loadItem returns an item in a state, with its comments.
func loadItem(ctx context.Context, db querier, project int64, id item.ID, state string) (row, error) {
	var r whole
	err := db.QueryRow(ctx, "select "+wholeColumns+" from copse.item i where i.project_id = $1 and i.id = $2 and i.state = $3", project, int64(id), state).Scan(r.fields()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return row{}, &item.NotFoundError{ID: id}
	}
	if err != nil {
		return row{}, err
	}
	return r.decode(), nil
}

// loadItems returns the items that a condition selects, by number, without their comments.
func loadItems(ctx context.Context, db querier, condition string, args ...any) (all []row, err error) {
	err = eachItem(ctx, db, func(r row) { all = append(all, r) }, condition, args...)
	return all, err
}

// eachItem calls do with the items that a condition selects, by number, without their
// comments.
func eachItem(ctx context.Context, db querier, do func(row), condition string, args ...any) error {
	found, err := db.Query(ctx, "select "+itemColumns+" from copse.item i where "+condition+" order by i.id", args...)
	if err != nil {
		return err
	}
	defer found.Close()
	for n := 1; found.Next(); n++ {
		var r scanned
		if err := errors.Join(found.Scan(r.fields()...), bounded.CheckRows(n)); err != nil {
			return err
		}
		do(r.decode())
	}
	return found.Err()
}
