// Package records reads the records of all stack tools about a repository, and caches each record
// until its files change.
//
// [Names] is the order of precedence: what a user told a tool comes before what a server reports,
// then git's configuration, and inferred parents come last. The user can move sources to the front.
package records

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/ghstack"
	"github.com/copse-dev/copse/internal/branch/source/githubstack"
	"github.com/copse-dev/copse/internal/branch/source/gitspice"
	"github.com/copse-dev/copse/internal/branch/source/gittown"
	"github.com/copse-dev/copse/internal/branch/source/graphite"
	"github.com/copse-dev/copse/internal/branch/source/machete"
	"github.com/copse-dev/copse/internal/branch/source/pullbase"
	"github.com/copse-dev/copse/internal/branch/source/pulllist"
	"github.com/copse-dev/copse/internal/branch/source/reflog"
	"github.com/copse-dev/copse/internal/branch/source/upstream"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/git"
)

// readers returns the readers in their order of precedence.
func readers(pulls pulllist.Dir) []source.Reader {
	return []source.Reader{
		gitspice.Reader{}, graphite.Reader{}, gittown.Reader{}, machete.Reader{}, ghstack.Reader{},
		githubstack.Reader{Pulls: pulls}, pullbase.Reader{Pulls: pulls},
		upstream.Reader{},
		reflog.Reader{},
	}
}

// inferred reports whether a source guesses, so it is used only for branches that no other source
// knows.
func inferred(name string) bool { return name == reflog.Name }

// Names returns the sources in their order of precedence, including twig.
func Names() []string {
	names := []string{source.Twig}
	for _, r := range readers("") {
		names = append(names, r.Name())
	}
	return names
}

// Options configure Records.
type Options struct {
	// Pulls is the location of the open pull requests; "" for none.
	Pulls pulllist.Dir
	// First returns the sources that take precedence over the others; nil for none. Unknown names
	// are ignored.
	First func() []string
}

// Records are those of one repository. They are safe for concurrent use.
type Records struct {
	o Options

	mu     sync.Mutex
	kept   map[string]*kept // by source
	joined map[bool]*joined // by whether it includes inferred parents
}

// kept is a record with the state of its files.
type kept struct {
	record     source.Record
	stamps     stamps
	unrecorded []string // the branches that it was read for
}

// joined is the result of joining records.
type joined struct {
	own     *twig.State
	records []*kept
	order   []string
	names   []string
	merged  source.Merged

	asked    []string // the branches whose parents must be inferred, nil if that is unknown
	standard string   // the default branch that asked is for
}

// New returns the records. It reads nothing yet.
func New(o Options) *Records {
	return &Records{o: o, kept: map[string]*kept{}, joined: map[bool]*joined{}}
}

// order returns the names of the sources in their order of precedence.
func (r *Records) order() []string {
	names := Names()
	if r.o.First == nil {
		return names
	}
	var order distinct.List[string]
	for _, name := range append(r.o.First(), names...) {
		if slices.Contains(names, name) {
			order.Add(name)
		}
	}
	return order.Values()
}

// OwnFirst reports whether twig's state takes precedence over all records.
func (r *Records) OwnFirst() bool { return r.order()[0] == source.Twig }

// Join returns twig's state, nil for none, together with the records of other tools, and notes on
// disagreements and on unreadable records. names returns the existing branches, sorted by bytes.
// With guess, Join infers parents that no tool recorded. The result is the state itself if no
// record adds to it.
func (r *Records) Join(ctx context.Context, repo *git.Repo, own *twig.State, names func() ([]string, error), guess bool) (*twig.State, []string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	order := r.order()
	explicit, err := r.read(ctx, repo, nil, func(name string) bool { return !inferred(name) })
	if err != nil {
		return nil, nil, err
	}
	if own != nil && !guess && !slices.ContainsFunc(explicit, says) {
		return own, nil, nil
	}
	exist, err := names()
	if err != nil {
		return nil, nil, err
	}
	known := r.join(false, own, explicit, order, exist)
	if guess {
		asked, err := known.unrecorded(ctx, repo)
		if err != nil {
			return nil, nil, err
		}
		guessed, err := r.read(ctx, repo, asked, inferred)
		if err != nil {
			return nil, nil, err
		}
		known = r.join(true, own, append(slices.Clone(explicit), guessed...), order, exist)
	}
	return known.merged.State, known.merged.Notes, nil
}

// join returns the joined records, the last result if nothing has changed.
func (r *Records) join(guess bool, own *twig.State, all []*kept, order, names []string) *joined {
	known := r.joined[guess]
	if known == nil || known.own != own || !slices.Equal(known.records, all) || !slices.Equal(known.order, order) || !slices.Equal(known.names, names) {
		known = &joined{own: own, records: all, order: order, names: slices.Clone(names)}
		if own != nil && len(own.Roots) > 0 && !slices.ContainsFunc(all, says) {
			known.merged.State = own
		} else {
			known.merged = merge(own, all, order, names)
		}
		r.joined[guess] = known
	}
	return known
}

// says reports whether a record has any content.
func says(k *kept) bool {
	return len(k.record.Edges) > 0 || len(k.record.Notes) > 0
}

func merge(own *twig.State, all []*kept, order, names []string) source.Merged {
	var records []source.Record
	for _, name := range order {
		if name == source.Twig {
			records = append(records, source.Record{Source: source.Twig})
			continue
		}
		if i := slices.IndexFunc(all, func(k *kept) bool { return k.record.Source == name }); i >= 0 {
			records = append(records, all[i].record)
		}
	}
	return source.Merge(own, records, func(name string) bool {
		_, ok := slices.BinarySearch(names, name)
		return ok
	})
}

// unrecorded returns the branches whose parents must be inferred: those without a parent in any
// other record, or all if the user puts an inferring source before others.
func (j *joined) unrecorded(ctx context.Context, repo *git.Repo) ([]string, error) {
	standard, err := repo.DefaultBranch(ctx)
	if err != nil {
		return nil, fmt.Errorf("read stacks: %w", err)
	}
	if j.asked != nil && j.standard == standard {
		return j.asked, nil
	}
	all := !inferred(j.order[len(j.order)-1])
	j.asked, j.standard = []string{}, standard
	for _, name := range j.names {
		if _, known := j.merged.State.Parent(name); name != standard && (all || !known && !j.merged.State.IsRoot(name)) {
			j.asked = append(j.asked, name)
		}
	}
	return j.asked, nil
}

// asking is a repository with the branches whose parents are wanted.
type asking struct {
	*git.Repo
	unrecorded []string
}

func (a asking) Unrecorded() []string { return a.unrecorded }

// read returns the records of the selected sources, in the order of readers.
func (r *Records) read(ctx context.Context, repo *git.Repo, unrecorded []string, wanted func(string) bool) ([]*kept, error) {
	all := slices.DeleteFunc(readers(r.o.Pulls), func(reader source.Reader) bool { return !wanted(reader.Name()) })
	found := make([]*kept, len(all))
	now := newLook(time.Now())
	reading, rctx := errgroup.WithContext(ctx)
	for i, reader := range all {
		known := r.kept[reader.Name()]
		if known != nil && slices.Equal(known.unrecorded, unrecorded) && known.stamps.hold(now) {
			found[i] = known
			continue
		}
		reading.Go(func() error {
			found[i] = readOne(rctx, reader, asking{repo, unrecorded})
			return ctx.Err()
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, fmt.Errorf("read stacks: %w", err)
	}
	for i, reader := range all {
		if known := r.kept[reader.Name()]; known != nil && reflect.DeepEqual(known.record, found[i].record) {
			known.stamps, known.unrecorded = found[i].stamps, found[i].unrecorded
			found[i] = known // the joined result is still valid
		}
		r.kept[reader.Name()] = found[i]
	}
	return found, nil
}

// readOne reads a record. If that fails, the record reports it, and the other records still work.
func readOne(ctx context.Context, reader source.Reader, repo asking) *kept {
	k := &kept{stamps: stampsOf(reader.Files(repo), time.Now()), unrecorded: repo.unrecorded}
	record, err := reader.Read(ctx, repo)
	if err != nil {
		record = source.Record{Notes: []string{"its record cannot be read: " + cause(err)}}
	}
	record.Source = reader.Name()
	k.record = record
	return k
}

// cause returns the text of an error without the paths of this machine.
func cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return filepath.Base(e.Path) + ": " + e.Err.Error()
	}
	return cleantext.Cut(cleantext.Line(err.Error()), 200)
}
