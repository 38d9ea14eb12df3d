package row

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
)

// History returns the history of an item, of all items for 0, the latest last.
func History(ctx context.Context, db Querier, project int64, id item.ID) ([]changes.Change, error) {
	const newest = " order by at desc, seq desc limit $2"
	query, args := "select "+Text("entry", MaxLong)+" from copse.history where project_id = $1"+newest, []any{project, int64(changes.MaxChanges)}
	if id != 0 {
		query, args = "select "+Text("entry", MaxLong)+" from copse.history where project_id = $1 and item_id = $3 order by seq desc limit $2", append(args, int64(id))
	}
	rows, err := db.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	entries, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	var log []changes.Change
	for _, entry := range slices.Backward(entries) {
		var c changes.Change
		if json.Unmarshal([]byte(entry), &c) == nil { // what nobody can read is not shown
			log = append(log, c)
		}
	}
	return log, nil
}
