// Package records reads what all stack tools record about a repository, and keeps it while
// their files do not change.
//
// The order of the readers is that in which they count: what a tool was told comes before
// what git's configuration suggests.
package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/ghstack"
	"github.com/copse-dev/copse/internal/branch/source/gitspice"
	"github.com/copse-dev/copse/internal/branch/source/gittown"
	"github.com/copse-dev/copse/internal/branch/source/graphite"
	"github.com/copse-dev/copse/internal/branch/source/machete"
	"github.com/copse-dev/copse/internal/branch/source/plain"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git"
)

// readers are in the order in which they count.
func readers() []source.Reader {
	return []source.Reader{
		gitspice.Reader{}, graphite.Reader{}, gittown.Reader{}, machete.Reader{}, ghstack.Reader{}, plain.Upstream{},
	}
}

// Records are those of one repository. They are safe for concurrent use.
type Records struct {
	mu    sync.Mutex
	kept  []source.Record
	print string // of the files that kept was read from
}

// New returns the records. Nothing is read yet.
func New() *Records { return &Records{} }

// State returns what the records come to, for branches that exist, and notes on
// disagreements and on records that cannot be read.
func (r *Records) State(ctx context.Context, repo *git.Repo, exists func(string) bool) (*twig.State, []string, error) {
	all, err := r.read(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	m := source.Merge(all, exists)
	return m.State, m.Notes, nil
}

func (r *Records) read(ctx context.Context, repo source.Repo) ([]source.Record, error) {
	all := readers()
	r.mu.Lock()
	defer r.mu.Unlock()
	print := fingerprint(all, repo)
	if r.kept != nil && r.print == print {
		return r.kept, nil
	}
	found := make([]source.Record, len(all))
	reading, rctx := errgroup.WithContext(ctx)
	for i, reader := range all {
		reading.Go(func() error {
			record, err := reader.Read(rctx, repo)
			if err != nil {
				// Whatever is wrong with one record, the others answer.
				record = source.Record{Source: reader.Name(), Notes: []string{"its record cannot be read: " + cause(err)}}
			}
			found[i] = record
			return ctx.Err()
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, fmt.Errorf("read stacks: %w", err)
	}
	r.kept, r.print = found, print
	return found, nil
}

// cause returns what an error says without the paths of this machine.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return filepath.Base(e.Path) + ": " + e.Err.Error()
	}
	return cleantext.Cut(cleantext.Line(err.Error()), 200)
}

// maxEntries bounds the files of a directory that count for its fingerprint.
const maxEntries = 10_000

// fingerprint returns a text that is another one after a change of any file.
func fingerprint(all []source.Reader, repo source.Repo) string {
	var b strings.Builder
	for _, reader := range all {
		for _, path := range reader.Files(repo) {
			sign(&b, path)
		}
	}
	return b.String()
}

func sign(b *strings.Builder, path string) {
	info, err := os.Lstat(path)
	if err != nil {
		b.WriteString("-\n")
		return
	}
	write(b, info)
	if !info.IsDir() {
		return
	}
	left := maxEntries
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error { //nolint:errcheck // what cannot be walked has no entries
		if left--; left < 0 || err != nil {
			return filepath.SkipAll
		}
		if info, err := d.Info(); err == nil {
			write(b, info)
		}
		return nil
	})
}

func write(b *strings.Builder, info fs.FileInfo) {
	fmt.Fprintf(b, "%s %d %d %o\n", info.Name(), info.Size(), info.ModTime().UnixNano(), info.Mode())
}
