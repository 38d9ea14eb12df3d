package row

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/relation"
)

// The states of an item. An item that was removed from the trash has another one, and no values.
const (
	Live    = "live"
	Deleted = "deleted"
)

// Item is the row of an item.
type Item struct {
	item.Item
	State     string
	DeletedAt string
	Lost      relation.Lost
}

// Beyond returns a warning about an item whose number no call accepts; the zero value for any other.
func (r Item) Beyond() (w item.Warning) {
	if r.ID > item.MaxID {
		w.File = fmt.Sprintf("item %d", r.ID)
		w.Reason = fmt.Sprintf("is not listed, because its number is above the largest one, %d; ask the owner of the database to change it", item.MaxID)
	}
	return w
}

// Ahead returns the first live item of a project whose version is above that of the project. Only
// another program writes one.
func Ahead(ctx context.Context, db Querier, project string) (id item.ID, err error) {
	err = db.QueryRow(ctx, `select i.id from copse.item i join copse.project p on p.id = i.project_id
		where p.name = $1 and i.state = 'live' and i.version > p.version order by i.id limit 1`, sqltext.Encode(project)).Scan(&id)
	return id, err
}

func itemColumns() string { return fieldColumns() + ", " + description() }

func fieldColumns() string {
	return "i.id, i.state, " + texts("i.deleted", "i.title", "i.type", "i.status", "i.iteration", "i.priority", "i.assignee") + ", " +
		lists("i.labels") + ", i.parent, " + Numbers("i.depends_on") + ", " +
		texts("i.created", "i.updated", "i.branch", "i.worktree", "i.pull_request") + ", " +
		Numbers("i.lost_children") + ", " + Numbers("i.lost_dependents") + ", " + Numbers("i.former") + ", " + lists("i.former_on")
}

func description() string { return Text("i.description", MaxLong) }

// Size returns an expression with the number of bytes that a reader gets for the row i of an item. A
// long description is not read for that.
func Size() string {
	return "(pg_catalog.octet_length(pg_catalog.concat(" + fieldColumns() + ")) + pg_catalog.octet_length(" + description() + "))"
}

// scanned is what itemColumns are scanned into.
type scanned struct {
	Item
	dependsOn, former, children, dependents []int64
	formerOn                                []string
}

func (r *scanned) fields() []any {
	return []any{
		&r.ID, &r.State, &r.DeletedAt, &r.Title, &r.Type, &r.Status, &r.Iteration, &r.Priority, &r.Assignee, &r.Labels, &r.Parent,
		&r.dependsOn, &r.Created, &r.Updated, &r.Link.Branch, &r.Link.Worktree, &r.Link.PullRequest,
		&r.children, &r.dependents, &r.former, &r.formerOn, &r.Description,
	}
}

// decode returns the row of a scanned one.
func (r *scanned) decode() Item {
	for _, s := range []*string{
		&r.Title, &r.Type, &r.Status, &r.Iteration, &r.Priority, &r.Assignee, &r.Description, &r.Created, &r.Updated,
		&r.Link.Branch, &r.Link.Worktree, &r.Link.PullRequest,
	} {
		*s = sqltext.Decode(*s)
	}
	r.Labels = sqltext.DecodeAll(r.Labels)
	r.DependsOn, r.Lost = sqltext.IDs(r.dependsOn), relation.Lost{Children: sqltext.IDs(r.children), Dependents: sqltext.IDs(r.dependents)}
	for i, id := range r.former {
		f := item.Former{ID: item.ID(id)}
		if i < len(r.formerOn) {
			f.On = r.formerOn[i]
		}
		r.Former = append(r.Former, f)
	}
	return r.Item
}

// commentedColumns are itemColumns with the comments of the item.
func commentedColumns() string {
	comment := func(column string) string {
		return fmt.Sprintf(", array(select %s from copse.comment c where c.project_id = i.project_id and c.item_id = i.id order by c.seq limit %d)", column, MaxComments)
	}
	return itemColumns() + comment(Text("c.author", maxShort)) + comment(Text("c.date", maxShort)) + comment(Text("c.body", MaxLong))
}

// commented is what commentedColumns are scanned into.
type commented struct {
	scanned
	authors, dates, bodies []string
}

func (r *commented) fields() []any {
	return append(r.scanned.fields(), &r.authors, &r.dates, &r.bodies)
}

func (r *commented) decode() Item {
	for i := range min(len(r.authors), len(r.dates), len(r.bodies)) {
		r.Comments = append(r.Comments, item.Comment{Author: sqltext.Decode(r.authors[i]), Date: sqltext.Decode(r.dates[i]), Body: sqltext.Decode(r.bodies[i])})
	}
	return r.scanned.decode()
}

// FindItem returns the item with a number that has the first of these states which there is, with
// its comments. Without one, the error is an [*item.NotFoundError].
func FindItem(ctx context.Context, db Querier, project int64, id item.ID, states ...string) (Item, error) {
	for _, state := range states {
		var r commented
		err := db.QueryRow(ctx, "select "+commentedColumns()+" from copse.item i where i.project_id = $1 and i.id = $2 and i.state = $3", project, int64(id), state).Scan(r.fields()...)
		switch {
		case err == nil:
			return r.decode(), nil
		case !errors.Is(err, pgx.ErrNoRows):
			return Item{}, err
		}
	}
	return Item{}, &item.NotFoundError{ID: id}
}

// Items returns the items that a condition selects, by number, without their comments.
func Items(ctx context.Context, db Querier, condition string, args ...any) (all []Item, err error) {
	err = EachItem(ctx, db, func(r Item) { all = append(all, r) }, condition, args...)
	return all, err
}

// EachItem calls do with the items that a condition selects, by number, without their
// comments.
func EachItem(ctx context.Context, db Querier, do func(Item), condition string, args ...any) error {
	found, err := db.Query(ctx, "select "+itemColumns()+" from copse.item i where "+condition+" order by i.id", args...)
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
