package write

import (
	"fmt"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/storage"
)

// The limits of a project that is read as a whole, in rows and in bytes. Any role that may insert a
// row can add millions of them, and an archive keeps all of them in memory.
const (
	maxArchived      = 512 << 20 // bytes of each table
	maxArchivedItems = 250_000
	maxHistory       = 500_000 // entries of all items
	maxFiles         = 10_000
	maxFilesSize     = 128 << 20
)

// checkSize refuses a project that is too large to be read as a whole.
func (w *Writer) checkSize() error {
	for _, part := range []struct {
		what, table, of, column string
		rows, bytes             int64
	}{
		{"configuration", "copse.project", " where id = $1", "original", 1, row.MaxLong},
		{"item", "copse.item", " where project_id = $1", "original", maxArchivedItems, maxArchived},
		{"comment", "copse.comment", " where project_id = $1", "body", maxHistory, maxArchived},
		{"history entry", "copse.history", " where project_id = $1", "entry", maxHistory, maxArchived},
		{"other file", "copse.file", " where project_id = $1", "content", maxFiles, maxFilesSize},
	} {
		size := "pg_catalog.octet_length(" + part.column + ")::bigint"
		var rows, bytes, largest int64
		query := "select pg_catalog.count(*), coalesce(pg_catalog.sum(" + size + "), 0)::bigint, coalesce(pg_catalog.max(" + size + "), 0) from " + part.table + part.of
		if err := w.tx.QueryRow(w.ctx, query, w.Project.ID).Scan(&rows, &bytes, &largest); err != nil {
			return err
		}
		var problem string
		switch {
		case rows > part.rows:
			problem = fmt.Sprintf("%s, and a move can take %d", cleantext.Count(int(rows), part.what), part.rows)
		case bytes > part.bytes:
			problem = fmt.Sprintf("%s of %d bytes in all, and a move can take %d bytes", cleantext.Count(int(rows), part.what), bytes, part.bytes)
		case largest > row.MaxLong:
			problem = fmt.Sprintf("%s of %d bytes, and the limit of each is %d", cleantext.Count(1, part.what), largest, row.MaxLong)
		default:
			continue
		}
		return &storage.StoreError{
			Problem: "the project has " + problem,
			Next:    "Remove what copse did not write from the table " + part.table + " with SQL, and try again.",
		}
	}
	return nil
}
