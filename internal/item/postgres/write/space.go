package write

import (
	"fmt"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/postgres/bounded"
	"github.com/copse-dev/copse/internal/item/postgres/row"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Space is how many bytes the items of a project may take, the trash included. A reader receives all
// of them at its start. It is safe for concurrent use.
type Space struct {
	limit int64
	mu    sync.Mutex
	used  Used // what is known
}

// NewSpace returns the space of a project whose readers accept so many bytes. Some of them are for what
// is never refused, such as the relations that a deletion notes.
func NewSpace(accepted int64) *Space { return &Space{limit: accepted / 4 * 3} }

// Used is how many bytes the items of a project take, or fewer, as of a version of the project.
type Used struct{ project, version, bytes int64 }

// Note remembers what the items of a project take after a change that was committed.
func (s *Space) Note(u Used) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.project != s.used.project || u.version > s.used.version {
		s.used = u
	}
}

// known returns what was noted last.
func (s *Space) known() Used {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used
}

// check returns a [*storage.StoreError] if there is no space for so many bytes.
func (s *Space) check(bytes int64) error {
	if bytes <= s.limit {
		return nil
	}
	return &storage.StoreError{
		Problem: fmt.Sprintf("the items of the project and its trash would have %d bytes together, more than the %.4g MiB allowed", bytes, float64(s.limit)/(1<<20)),
		Next:    "Shorten the text, or delete items that nobody needs and remove them with `copse item trash purge`.",
	}
}

// rowSize is what a row counts beyond its values: more than the protocol adds, and so much that no
// project of this size has more rows than a reader accepts.
const rowSize = bounded.MaxAnswer / bounded.MaxRows

// sum returns the statement that adds up the sizes of the items that changed after a version.
func sum() string {
	return fmt.Sprintf("select coalesce(pg_catalog.sum(%s + %d), 0)::bigint from copse.item i where i.project_id = $1 and i.version > $2", row.Size(), rowSize)
}

// FlushWithin writes like [Writer.Flush], a change that can need space. It returns what the items take then, or
// a [*storage.StoreError].
//
// It adds the sizes of the items that changed since to what is known. Their former sizes are part of
// that, too: only if there is no space for so much does it add up the sizes of all items.
func (w *Writer) FlushWithin(s *Space) (Used, error) {
	const all = -1 // the version before all items
	known := s.known()
	if !w.grows {
		return known, w.Flush()
	}
	if known.project != w.Project.ID || known.version >= w.Project.Version {
		known = Used{version: all}
	}
	now := Used{project: w.Project.ID, version: w.Project.Version}
	w.batch.Queue(sum(), w.Project.ID, known.version).QueryRow(func(r pgx.Row) error { return r.Scan(&now.bytes) })
	if err := w.Flush(); err != nil {
		return Used{}, err
	}
	now.bytes += known.bytes
	if known.version == all || s.check(now.bytes) == nil {
		return now, s.check(now.bytes)
	}
	if err := w.tx.QueryRow(w.ctx, sum(), w.Project.ID, int64(all)).Scan(&now.bytes); err != nil {
		return Used{}, err
	}
	return now, s.check(now.bytes)
}

// size returns a measure of an item that grows with its row.
func size(it *item.Item) int {
	const number = len("9223372036854775807,")
	total := len(it.Title) + len(it.Type) + len(it.Status) + len(it.Iteration) + len(it.Priority) + len(it.Assignee) + len(it.Description) +
		len(it.Link.Branch) + len(it.Link.Worktree) + len(it.Link.PullRequest) + number*len(it.DependsOn)
	for _, label := range it.Labels {
		total += len(label) + 1
	}
	return total
}
