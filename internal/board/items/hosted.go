package items

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/board"
	"github.com/copse-dev/copse/internal/board/markup"
	"github.com/copse-dev/copse/internal/item"
)

// ItemRow is an item of an answer, and where the answer has it.
type ItemRow struct {
	ID item.ID
	// Depth is how many items it is below.
	Depth int
	// Omitted is how many of the items below it the answer left out.
	Omitted int
}

// Rows returns the rows of items, as the tree of the page has them. An item that was deleted
// meanwhile has none.
func (v *View) Rows(ctx context.Context, items []ItemRow) ([]board.Row, error) {
	d, err := v.hosted(ctx, true)
	if err != nil {
		return nil, err
	}
	rows := make([]board.Row, 0, len(items))
	for _, p := range items {
		it, err := d.snapshot.Find(p.ID)
		if err != nil {
			continue
		}
		rows = append(rows, d.branch(it, p, false))
	}
	return rows, d.Err
}

// Panel returns the panel about an item.
func (v *View) Panel(ctx context.Context, id item.ID, readOnly bool) (*board.Detail, error) {
	d, err := v.hosted(ctx, readOnly)
	if err != nil {
		return nil, err
	}
	out, err := d.detail(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	return out, d.Err
}

func (v *View) hosted(ctx context.Context, readOnly bool) (*drawing, error) {
	config, snapshot, err := v.read(ctx)
	if err != nil {
		return nil, err
	}
	return &drawing{
		Renderer: markup.Renderer{Kit: v.kit, Templates: v.templates}, view: v, readOnly: readOnly, config: config, snapshot: snapshot,
	}, nil
}

// branch makes the row of an item in the tree.
func (d *drawing) branch(it *item.Summary, p ItemRow, selected bool) board.Row {
	r := d.row(it)
	r.Omitted = p.Omitted
	return board.Row{Key: it.ID.String(), Selected: selected, Class: fmt.Sprintf("depth%d", min(p.Depth, maxDepth)), HTML: d.HTML("branch", r)}
}
