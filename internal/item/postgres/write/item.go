package write

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/postgres/sqltext"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Create creates an item with the next number.
func (w *Writer) Create(d item.Draft) (item.Item, error) {
	d, err := w.Rules.Complete(d)
	if err != nil {
		return item.Item{}, err
	}
	if err := w.checkNew(d); err != nil {
		return item.Item{}, err
	}
	now := w.timestamp()
	it := item.Item{
		Summary: item.Summary{
			ID: w.Project.Config.NextID, Title: d.Title, Type: d.Type, Status: d.Status, Iteration: d.Iteration, Priority: d.Priority,
			Assignee: d.Assignee, Labels: d.Labels, Created: now, Updated: now, Parent: d.Parent, DependsOn: d.DependsOn,
		},
		Description: d.Description,
	}
	if it.ID > item.MaxID {
		return item.Item{}, &storage.StoreError{
			Problem: "no number is left for a new item",
			Next:    "Ask the owner of the database to set next_id of the project to the number after the largest one in use.",
		}
	}
	w.queue("update copse.project set next_id = next_id + 1 where id = $1", w.Project.ID)
	w.knowIteration(it.Iteration)
	w.insert(row.Item{Item: it, State: row.Live})
	w.grows = true
	return it, w.log(w.entry(changes.Created, it.ID))
}

// insert adds the row of an item, without its comments.
func (w *Writer) insert(r row.Item) {
	formerOn := make([]string, len(r.Former))
	former := make([]int64, len(r.Former))
	for i, f := range r.Former {
		former[i], formerOn[i] = int64(f.ID), f.On
	}
	w.queue(`insert into copse.item (project_id, version, id, state, deleted, title, type, status, iteration, priority, assignee,
		labels, parent, depends_on, description, created, updated, branch, worktree, pull_request, lost_children, lost_dependents,
		former, former_on)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24)`,
		w.Project.ID, w.Project.Version, int64(r.ID), r.State, r.DeletedAt, sqltext.Encode(r.Title), sqltext.Encode(r.Type), sqltext.Encode(r.Status), sqltext.Encode(r.Iteration),
		sqltext.Encode(r.Priority), sqltext.Encode(r.Assignee), sqltext.EncodeAll(r.Labels), int64(r.Parent), sqltext.Numbers(r.DependsOn), sqltext.Encode(r.Description),
		sqltext.Encode(r.Created), sqltext.Encode(r.Updated), sqltext.Encode(r.Link.Branch), sqltext.Encode(r.Link.Worktree), sqltext.Encode(r.Link.PullRequest),
		sqltext.Numbers(r.Lost.Children), sqltext.Numbers(r.Lost.Dependents), former, formerOn)
}

// assignments collects the columns that a statement sets.
type assignments struct {
	columns []string
	values  []any
}

func (a *assignments) set(column string, value any) {
	a.values = append(a.values, value)
	a.columns = append(a.columns, fmt.Sprintf("%s = $%d", column, len(a.values)))
}

func (a *assignments) setText(column string, value *string) {
	if value != nil {
		a.set(column, sqltext.Encode(*value))
	}
}

// store queues the change of an item.
func (w *Writer) store(id item.ID, a assignments) {
	a.set("version", w.Project.Version)
	a.values = append(a.values, w.Project.ID, int64(id))
	w.queue(fmt.Sprintf("update copse.item set %s where project_id = $%d and id = $%d",
		strings.Join(a.columns, ", "), len(a.values)-1, len(a.values)), a.values...)
}

// Update changes fields of an item. The claim of an item that is done ends.
func (w *Writer) Update(id item.ID, p item.Patch) (item.Item, error) {
	p, err := w.Rules.Check(p)
	if err != nil {
		return item.Item{}, err
	}
	r, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Live)
	if err != nil {
		return item.Item{}, err
	}
	if err := w.checkRelations(id, p.Parent, p.DependsOn); err != nil {
		return item.Item{}, err
	}
	if p.Status != nil && w.Rules.Done(*p.Status) {
		if err := w.finish(id, p.Steal); err != nil {
			return item.Item{}, err
		}
	}
	before := r.Item
	var a assignments
	for _, field := range []struct {
		column string
		value  *string
		into   *string
	}{
		{"title", p.Title, &r.Title}, {"type", p.Type, &r.Type}, {"status", p.Status, &r.Status}, {"priority", p.Priority, &r.Priority},
		{"assignee", p.Assignee, &r.Assignee}, {"iteration", p.Iteration, &r.Iteration}, {"description", p.Description, &r.Description},
		{"branch", p.Branch, &r.Link.Branch}, {"worktree", p.Worktree, &r.Link.Worktree}, {"pull_request", p.PullRequest, &r.Link.PullRequest},
	} {
		if a.setText(field.column, field.value); field.value != nil {
			*field.into = *field.value
		}
	}
	if p.Labels != nil {
		a.set("labels", sqltext.EncodeAll(*p.Labels))
		r.Labels = *p.Labels
	}
	if p.Parent != nil {
		a.set("parent", int64(*p.Parent))
		r.Parent = *p.Parent
	}
	if p.DependsOn != nil {
		a.set("depends_on", sqltext.Numbers(*p.DependsOn))
		r.DependsOn = *p.DependsOn
	}
	w.grows = size(&r.Item) > size(&before)
	r.Updated = w.timestamp()
	a.setText("updated", &r.Updated)
	w.store(id, a)
	if p.Iteration != nil {
		w.knowIteration(*p.Iteration)
	}
	if change, ok := changes.NewUpdate(&before, &r.Item, w.by); ok {
		change.Undoes = w.undoes
		return r.Item, w.log(change)
	}
	return r.Item, nil
}

// AddComment adds a comment to an item.
func (w *Writer) AddComment(id item.ID, c item.Comment) (item.Comment, error) {
	commented, err := row.FindItem(w.ctx, w.tx, w.Project.ID, id, row.Live)
	if err != nil {
		return item.Comment{}, err
	}
	if len(commented.Comments) >= row.MaxComments {
		return item.Comment{}, &item.InvalidError{Problem: "The item has " + cleantext.Count(row.MaxComments, "comment") + ", and more are not allowed; create another item"}
	}
	total := len(c.Author) + len(c.Body)
	for _, said := range commented.Comments {
		total += len(said.Author) + len(said.Body)
	}
	if total > row.MaxLong {
		return item.Comment{}, &item.InvalidError{Problem: fmt.Sprintf("The comments of the item would have %s together, and %d are allowed; create another item", cleantext.Count(total, "byte"), row.MaxLong)}
	}
	c.Date = w.timestamp()
	w.queue(`insert into copse.comment (project_id, item_id, seq, author, date, body)
		select $1, $2, coalesce(pg_catalog.max(seq), 0) + 1, $3, $4, $5 from copse.comment where project_id = $1 and item_id = $2`,
		w.Project.ID, int64(id), sqltext.Encode(c.Author), c.Date, sqltext.Encode(c.Body))
	var a assignments
	a.set("updated", c.Date)
	w.store(id, a)
	return c, w.log(changes.NewComment(id, c, w.by))
}

// SetDoneStatuses sets which statuses mean done.
func (w *Writer) SetDoneStatuses(statuses []string) error {
	for _, status := range statuses {
		if !slices.Contains(w.Project.Config.Statuses, status) {
			return &item.InvalidError{
				Field: "done_statuses", Problem: fmt.Sprintf("Invalid status %q. Valid statuses: %s", status, foreign.Mention(w.Project.Config.Statuses...)),
			}
		}
	}
	w.queue("update copse.project set done_statuses = $2 where id = $1", w.Project.ID, sqltext.EncodeAll(statuses))
	return nil
}

// SetValues replaces the types or the statuses of the project: key is one of these words.
func (w *Writer) SetValues(key string, values []string) {
	w.queue("update copse.project set "+key+" = $2 where id = $1", w.Project.ID, sqltext.EncodeAll(values))
}
