// Package shared stores the history of a store of work items on a separate branch,
// and exchanges it with a remote.
//
// [Syncer.Sync] commits the content of the store, fetches, merges with package merge, and
// pushes, and starts again if somebody else was faster. It guarantees that
//
//   - nothing in the store is lost: it is committed before anything is merged
//     into it, and concurrent changes of agents are committed and merged, too;
//   - the remote's branch only moves forward, from the commit that was merged;
//   - a process that is killed at any point leaves a store and a branch with which the
//     next Sync continues;
//   - without the remote, everything but the exchange happens, and the result states what waits.
//
// The store records the commit that its files come from. The next commit has that one as
// its parent, wherever the branch is, so no merge mistakes older files for a change.
package shared

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/backoff"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/sidebranch"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/historyfile"
	"github.com/copse-dev/copse/internal/item/local"
	"github.com/copse-dev/copse/internal/item/local/exchange"
	"github.com/copse-dev/copse/internal/item/merge"
	"github.com/copse-dev/copse/internal/item/merge/match"
	"github.com/copse-dev/copse/internal/item/ticfile"
)

// Syncer keeps one store. It is for one goroutine.
type Syncer struct {
	Store  *local.Store
	Branch *sidebranch.Branch
	// Remote is nil if there is none: the history is local then.
	Remote *sidebranch.Remote
	Now    func() time.Time
	// Join allows the next Sync to join the store with one that has nothing in common with it, although
	// both were published.
	Join bool
	// Redact returns the reason of a failure without secrets. The store keeps the reason where other
	// accounts can read it. Nil keeps it as it is.
	Redact func(string) string
	// RemoteTime is how long a Sync may use the remote; 0 is a default.
	RemoteTime time.Duration

	note note // as of the last exchange
}

// Result is what a Sync did.
type Result struct {
	// Committed means that the store had changes of its own.
	Committed bool
	// Received and Sent are how many items and other files came from the remote and
	// went to it.
	Received, Sent int
	// Renumbered are the items that got another number.
	Renumbered []merge.Renumbering
	Reports    []merge.Report
	// Offline is why the remote could not be used; nil if it was, or if there is none.
	Offline error
	// Waiting is how many items and other files have changes that the remote has not,
	// as far as is known here.
	Waiting int
}

// counts reports whether a file counts in a Result: a history changes with its item.
func counts(name string) bool { return path.Dir(name) != historyfile.Directory }

// Sync brings store, branch and remote together.
func (s *Syncer) Sync(ctx context.Context) (Result, error) {
	var r Result
	err := s.Store.Synchronize(ctx, func() error {
		limit := cmp.Or(s.RemoteTime, remoteTime)
		remote, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than the %s that a sync may use it", limit))
		defer cancel()
		err := exchanged(ctx, limit, func() error { return s.once(ctx, remote, &r) })
		if ctx.Err() != nil {
			return err // it was ended, which is not a failure
		}
		problem := ""
		if failed := cmp.Or(err, r.Offline); failed != nil {
			problem = failed.Error()
		}
		if s.Redact != nil {
			problem = s.Redact(problem)
		}
		s.Join = s.Join && problem != ""
		return errors.Join(err, s.Store.NoteSync(ctx, problem))
	})
	return r, err
}

const (
	// maxAttempts limits how often a sync starts again, also with a remote that only says that
	// somebody else was faster.
	maxAttempts = 100
	// remoteTime limits all attempts together: each transfer has a limit of minutes, and there are
	// several in an attempt.
	remoteTime = 10 * time.Minute
)

// exchanged calls once until nobody else is faster, or the limit has passed.
func exchanged(ctx context.Context, limit time.Duration, once func() error) error {
	const shortest, longest = 20 * time.Millisecond, 2 * time.Second
	pauses := backoff.Start(shortest, longest)
	for attempt := 1; ; attempt++ {
		err := once()
		if !errors.Is(err, sidebranch.ErrMoved) {
			return err
		}
		if attempt < maxAttempts {
			err = pauses.Pause(ctx, limit)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("others kept changing the branch of the remote: %w", err)
		}
		if err != nil {
			return fmt.Errorf("others changed the branch of the remote %s during the sync, which took %s; try again",
				cleantext.Count(attempt, "time"), pauses.Elapsed().Round(time.Second))
		}
	}
}

// once does all of it once. The remote is used until its context ends. The error is
// sidebranch.ErrMoved if somebody else was faster.
func (s *Syncer) once(ctx, remote context.Context, r *Result) error {
	var theirs sidebranch.Commit
	r.Offline = nil
	if s.Remote != nil {
		var err error
		theirs, err = s.Branch.Fetch(remote, *s.Remote)
		if r.Offline, err = unreachable(ctx, remote, err); err != nil {
			return err
		}
	}
	tip, err := s.Branch.Tip(ctx)
	if err != nil {
		return err
	}
	known := tip
	intact, err := s.Branch.Intact(ctx, tip)
	if err != nil {
		return err
	}
	if !intact { // the store and the remote have everything
		known = ""
	}
	next, err := s.exchange(ctx, r, known, theirs)
	if err != nil {
		return err
	}
	if next != tip {
		if err := s.Branch.Move(ctx, next, tip); err != nil {
			return err
		}
	}
	switch {
	case s.Remote == nil:
		return nil
	case r.Offline != nil:
		return s.countWaiting(ctx, r, next)
	case next == theirs:
		r.Waiting = 0
		return s.published(ctx, next)
	}
	r.Offline, err = unreachable(ctx, remote, s.Branch.Push(remote, *s.Remote, next, theirs))
	switch {
	case err != nil:
		return err
	case r.Offline != nil:
		return s.countWaiting(ctx, r, next)
	}
	sent, err := s.Branch.Differences(ctx, theirs, next, counts)
	r.Sent, r.Waiting = r.Sent+sent, 0
	return errors.Join(err, s.published(ctx, next))
}

// unreachable separates why the remote could not be used from other errors.
func unreachable(ctx, remote context.Context, err error) (offline, other error) {
	if err != nil && remote.Err() != nil && ctx.Err() == nil {
		return &sidebranch.UnreachableError{Doing: "sync with", Err: context.Cause(remote)}, nil
	}
	if offline, ok := errors.AsType[*sidebranch.UnreachableError](err); ok {
		return offline, nil
	}
	return nil, err
}

// Waiting returns how many items and other files have changes that the remote is not known
// to have. It asks no remote.
func (s *Syncer) Waiting(ctx context.Context) (waiting int, err error) {
	err = s.Store.Exchange(ctx, func(files exchange.Files, text string) (exchange.Files, string, error) {
		published := parseNote(text).published
		if !s.Branch.Has(ctx, published) {
			published = ""
		}
		n, err := s.Branch.Changes(ctx, published, sidebranch.Tree(files), counts)
		waiting = n
		return files, text, err
	})
	return waiting, err
}

// countWaiting counts what the remote has not.
func (s *Syncer) countWaiting(ctx context.Context, r *Result, next sidebranch.Commit) (err error) {
	published := s.note.published
	if !s.Branch.Has(ctx, published) {
		published = ""
	}
	r.Waiting, err = s.Branch.Differences(ctx, published, next, counts)
	return err
}

// published notes that the remote has a commit, at which the store is.
func (s *Syncer) published(ctx context.Context, c sidebranch.Commit) error {
	if s.note == (note{c, c}) {
		return nil
	}
	s.note = note{c, c}
	return s.Store.SetNote(ctx, s.note.String())
}

// note is what the store notes about its files: the commit that they come from, and
// the last one that the remote is known to have.
type note struct{ synced, published sidebranch.Commit }

func parseNote(text string) note {
	synced, published, _ := strings.Cut(text, " ")
	return note{sidebranch.Commit(synced), sidebranch.Commit(published)}
}

func (n note) String() string { return strings.TrimSpace(string(n.synced) + " " + string(n.published)) }

// exchange commits the files of the store, merges into them what the branch and the
// remote have, and returns the commit that the store is at then.
func (s *Syncer) exchange(ctx context.Context, r *Result, tip, theirs sidebranch.Commit) (sidebranch.Commit, error) {
	var next sidebranch.Commit
	err := s.Store.Exchange(ctx, func(files exchange.Files, text string) (exchange.Files, string, error) {
		s.note = parseNote(text)
		synced := s.note.synced
		if !s.Branch.Has(ctx, synced) {
			synced = ""
		}
		now, err := s.commit(ctx, files, "Change work items", synced)
		if err != nil {
			return nil, "", err
		}
		if now != synced {
			r.Committed = true
		}
		own, before := now, files
		for _, other := range []sidebranch.Commit{tip, theirs} {
			if files, now, err = s.join(ctx, r, files, now, other); err != nil {
				return nil, "", err
			}
		}
		if now != own {
			received, err := s.Branch.Differences(ctx, own, now, counts)
			if err != nil {
				return nil, "", err
			}
			r.Received += received
			r.Reports = append(r.Reports, restored(before, files, r.Reports)...)
			r.Reports = append(r.Reports, chosen(before, files, r.Reports)...)
		}
		next, s.note.synced = now, now
		return files, s.note.String(), nil
	})
	return next, err
}

func (s *Syncer) commit(ctx context.Context, files exchange.Files, message string, parents ...sidebranch.Commit) (sidebranch.Commit, error) {
	var known []sidebranch.Commit
	for _, parent := range parents {
		if parent != "" {
			known = append(known, parent)
		}
	}
	return s.Branch.Commit(ctx, sidebranch.Tree(files), message, known...)
}

// join merges a commit into files, which those of the commit now are.
func (s *Syncer) join(ctx context.Context, r *Result, files exchange.Files, now, other sidebranch.Commit) (exchange.Files, sidebranch.Commit, error) {
	if other == "" || other == now {
		return files, now, nil
	}
	base, err := s.Branch.Base(ctx, now, other)
	if err != nil || base == other {
		return files, now, err
	}
	theirs, err := s.read(ctx, other)
	if err != nil {
		return nil, "", err
	}
	if _, err := ticfile.ParseConfig(theirs[merge.ConfigName]); err != nil {
		return nil, "", fmt.Errorf("%s of commit %.12s of the branch %w", merge.ConfigName, other, err)
	}
	if base == now {
		return theirs, other, nil
	}
	common, err := s.common(ctx, base, files, theirs)
	if errors.Is(err, errOtherStore) {
		return nil, "", fmt.Errorf("commit %.12s of the branch %w", other, err)
	}
	if err != nil {
		return nil, "", err
	}
	published := birthsOf(theirs)
	merged, err := merge.Stores(merge.Tree(common), merge.Tree(files), merge.Tree(theirs), merge.Options{
		Rank: func(b merge.Birth) int {
			if published[b] {
				return 0
			}
			return 1
		},
		Now:       s.Now(),
		BornApart: true,
	})
	if err != nil {
		return nil, "", fmt.Errorf("merge the work items: %w", err)
	}
	r.Renumbered = append(r.Renumbered, merged.Renumbered...)
	r.Reports = append(r.Reports, merged.Reports...)
	commit, err := s.commit(ctx, exchange.Files(merged.Tree), "Merge work items", now, other)
	return exchange.Files(merged.Tree), commit, err
}

// errOtherStore reports that a published store and a branch have nothing in common. A remote could
// otherwise get the items of another repository, or this one those of another, because of a wrong address.
var errOtherStore = errors.New("has no commit and no item in common with this store, which was synced before: it is of another repository, or somebody has " +
	"replaced the branch; check the address with `git remote -v`, or join the two stores with `copse item sync --join`")

// common returns the files of the base of a merge of own files with theirs. If somebody has replaced the
// history of the branch, there is no base. The last state that the remote had takes its place then, without
// what theirs lacks: nothing is deleted because of that. The error is errOtherStore if theirs is another
// store, unless Join is set.
func (s *Syncer) common(ctx context.Context, base sidebranch.Commit, own, theirs exchange.Files) (exchange.Files, error) {
	if base != "" || s.note.published == "" {
		return s.read(ctx, base)
	}
	files := exchange.Files{}
	if s.Branch.Has(ctx, s.note.published) {
		var err error
		if files, err = s.read(ctx, s.note.published); err != nil {
			return nil, err
		}
	}
	created := map[string]bool{}
	for birth := range birthsOf(theirs) {
		created[birth.Created] = true
	}
	same := len(created) == 0 || s.Join
	for birth := range birthsOf(own) {
		same = same || created[birth.Created]
	}
	common := false
	for _, dir := range []string{merge.ItemsDir, merge.TrashDir} {
		for birth, name := range birthsIn(files, dir) {
			if created[birth.Created] {
				common = true
			} else {
				delete(files, name)
			}
		}
	}
	if !same && !common {
		return nil, errOtherStore
	}
	if !common {
		return exchange.Files{}, nil
	}
	maps.DeleteFunc(files, func(name, _ string) bool {
		_, there := theirs[name]
		return !there && path.Dir(name) != merge.ItemsDir && path.Dir(name) != merge.TrashDir
	})
	return files, nil
}

// read returns the files of a commit that a store can have.
func (s *Syncer) read(ctx context.Context, c sidebranch.Commit) (exchange.Files, error) {
	tree, err := s.Branch.Read(ctx, c, exchange.IsFile, ticfile.MaxSize)
	if err != nil {
		return nil, err
	}
	if _, ok := tree[merge.ConfigName]; c != "" && !ok {
		return nil, fmt.Errorf("commit %s of the branch has no %s: it is not a branch of work items; choose another name for the branch", c, merge.ConfigName)
	}
	return exchange.Files(tree), nil
}

// restored reports the items that were deleted here and that others have changed or restored, except
// those that a merge has reported.
func restored(before, after exchange.Files, known []merge.Report) []merge.Report {
	deleted, live := birthsIn(before, merge.TrashDir), birthsIn(after, merge.ItemsDir)
	var reports []merge.Report
	for birth := range deleted {
		name, ok := live[birth]
		if !ok || slices.ContainsFunc(known, func(r merge.Report) bool { return r.Kind == merge.KeptChanged && r.File == name }) {
			continue
		}
		reports = append(reports, merge.Report{
			Kind: merge.KeptChanged, File: name, Text: "is no longer deleted, because it was changed or restored elsewhere",
		})
	}
	slices.SortFunc(reports, func(a, b merge.Report) int { return strings.Compare(a.File, b.File) })
	return reports
}

// chosen reports the values that this clone had and that the merge of another clone replaced, except
// those that a merge has reported here.
func chosen(before, after exchange.Files, known []merge.Report) []merge.Report {
	reported := make(map[string]bool)
	for _, r := range known {
		reported[r.File] = reported[r.File] || r.Kind == merge.ChoseValue
	}
	var reports []merge.Report
	for name, text := range after {
		old, both := before[name]
		if !both || old == text || path.Dir(name) != merge.ItemsDir || reported[name] {
			continue
		}
		was, is := match.Read(name, old), match.Read(name, text)
		if was == nil || is == nil {
			continue
		}
		log := historyfile.Parse(after[path.Join(historyfile.Directory, historyfile.Name(is.ID, is.Item.Created))])
		c, _ := changes.Chosen(log.Changes, &is.Item)
		had, _ := changes.NewUpdate(&was.Item, &is.Item, claim.Agent{})
		for _, v := range c.Values() {
			if slices.Contains(had.Values(), v) {
				reports = append(reports, merge.Report{
					Kind: merge.ChoseValue, File: name, Text: fmt.Sprintf("has the %s %q and not %q, because another clone changed it, too", v.Field, v.After, v.Before),
				})
			}
		}
	}
	slices.SortFunc(reports, func(a, b merge.Report) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Text, b.Text))
	})
	return reports
}

// birthsOf returns the births of the items in files, as the lines say that everybody writes.
func birthsOf(files exchange.Files) map[merge.Birth]bool {
	births := map[merge.Birth]bool{}
	for _, dir := range []string{merge.ItemsDir, merge.TrashDir} {
		for birth := range birthsIn(files, dir) {
			births[birth] = true
		}
	}
	return births
}

// birthsIn returns the names of the items in a directory, by birth.
func birthsIn(files exchange.Files, dir string) map[merge.Birth]string {
	births := map[merge.Birth]string{}
	for name, text := range files {
		if path.Dir(name) != dir {
			continue
		}
		id, err := item.ParseID(strings.TrimSuffix(path.Base(name), ".md"))
		if err != nil {
			continue
		}
		if _, rest, ok := strings.Cut(text, "\ncreated: "); ok {
			created, _, _ := strings.Cut(rest, "\n")
			births[merge.Birth{ID: id, Created: strings.Trim(strings.TrimSpace(created), `"'`)}] = name
		}
	}
	return births
}
