// Package claimbook stores the claims of a store of work items in files, one for each claim.
//
// [Open] returns the [Book] of a store. [Book.Live] adds the valid claims to a snapshot and
// takes no lock. [Book.Change] creates, renews, and ends claims with a [Tx]. Package claimfile
// defines the format of the files. The package guarantees that
//
//   - an item has one holder at a time, in all worktrees of a repository;
//   - a claim belongs to an item and not to its number: an item whose number changes keeps its
//     holder, and another item with the same number does not get it;
//   - a damaged file holds no item, and no symbolic link points outside the directory;
//   - while a file cannot be read, nobody gets its item: it may have a holder.
//
// The directory depends on the store. In the store that all worktrees share, it is a part of the
// store, so a sync sends the claims to other clones. A store in the tree of a repository
// has its claims in git's directory: each worktree has its own items there, and all of them
// have the same claims. Elsewhere, the claims are in the private directory of the store.
package claimbook

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/git/checkout"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/local/layout"
	"github.com/copse-dev/copse/internal/item/local/location"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Book is the claims of a store. It is safe for concurrent use.
type Book struct {
	store rooted.Dir
	dir   rooted.Dir
	now   func() time.Time
	// locked is the lock of a book outside the store. It is taken inside that of the
	// store. nil: the book is in the store, below directory.
	locked    *lockedstore.Store
	directory string
	// worktrees returns the worktrees whose existence may be noted; nil is any. A sync sends the notes
	// of a book in the shared store to others, whose claims are in it, too.
	worktrees func() []string

	mu   sync.Mutex
	read map[string]entry // by name
}

// entry is the claim of a file that was read.
type entry struct {
	info   fs.FileInfo
	record claimfile.Record
	ok     bool
}

// found are the claims of files.
type found struct {
	records map[string]claimfile.Record // by the name of the file
	left    int                         // files that were not read because they are too large together
	unread  map[string]error            // files that could not be read
}

const (
	// lockFile is the lock of a book outside a store.
	lockFile = "lock"
	// lockWait is how long a change of a book waits for other changes.
	lockWait = 10 * time.Second
	// racy is the age from which a file's times show each change of it.
	racy = 100 * time.Millisecond
)

// Open returns the claims of the store in a directory, which was found by a search.
func Open(store rooted.Dir, search location.Search, now func() time.Time) *Book {
	b := &Book{store: store, now: now}
	switch {
	case search.Shared != "" && store.Path() == search.Shared:
		b.dir, b.directory = store.Sub(claimfile.Directory), claimfile.Directory
		b.worktrees = func() []string { return checkout.Linked(search.SharedDir().Wall) }
	case search.Shared != "" && store.Name == location.Name:
		common := search.SharedDir()
		common.Name = path.Dir(common.Name)
		b.dir, b.directory = common.Sub(claimfile.Directory), path.Join(common.Name, claimfile.Directory)
		b.locked = lockedstore.NewIn(rooted.Dir{Wall: common.Wall, Name: "."}, path.Join(b.directory, lockFile), lockWait)
	default:
		b.directory = layout.Private + "/" + claimfile.Directory
		b.dir = store.Sub(b.directory)
	}
	return b
}

// Elsewhere returns the directory of the claims if it is not in that of the store.
func (b *Book) Elsewhere() (dir string, ok bool) { return b.dir.Path(), b.locked != nil }

// maxRead is how many bytes of claims one call reads. The smallest files come first, so that a few large
// ones, which no agent needs, are left out.
const maxRead = 8 << 20

// file is a file in the directory of claims.
type file struct {
	name string
	info fs.FileInfo
}

// records returns the claims of the wanted files. It reuses earlier results for unchanged files.
func (b *Book) records(wanted func(names []string) ([]string, error)) (found, error) {
	root, err := b.dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return found{}, nil
	}
	if err != nil {
		return found{}, fmt.Errorf("read the claims: %w", rooted.WithoutPath(err))
	}
	defer root.Close()
	names, err := layout.Names(root, ".")
	if err != nil {
		return found{}, fmt.Errorf("read the claims: %w", err)
	}
	if names, err = wanted(names); err != nil {
		return found{}, err
	}
	all := found{records: map[string]claimfile.Record{}, unread: map[string]error{}}
	var files []file
	for _, name := range names {
		info, err := root.Lstat(name)
		switch {
		case path.Ext(name) != claimfile.Extension || errors.Is(err, fs.ErrNotExist):
		case err != nil:
			all.unread[name] = rooted.WithoutPath(err)
		case info.Mode().IsRegular():
			files = append(files, file{name, info})
		}
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.info.Size(), b.info.Size()), strings.Compare(a.name, b.name))
	})
	var size int64
	for i, f := range files {
		if size += f.info.Size(); size > maxRead {
			files, all.left = files[:i], len(files)-i
			break
		}
	}
	b.readAll(root, files, &all)
	return all, nil
}

// readAll adds the claims of files.
func (b *Book) readAll(root *os.Root, files []file, all *found) {
	b.mu.Lock()
	defer b.mu.Unlock()
	read := make(map[string]entry, len(files))
	for _, f := range files {
		known, ok := b.read[f.name]
		if !ok || !known.current(f.info) {
			var err error
			known = entry{info: f.info}
			if known.record, known.ok, err = readClaim(root, f.name, b.now()); err != nil {
				all.unread[f.name] = err
				continue
			}
		}
		if time.Since(f.info.ModTime()) > racy {
			read[f.name] = known
		}
		if known.ok {
			all.records[f.name] = known.record
		}
	}
	b.read = read
}

// of returns the names of files that can have the claim of an item of a snapshot, also under a number that
// the item had before. A store can have any number of other files there.
func (b *Book) of(s *item.Snapshot, names []string) ([]string, error) {
	var current, others []string
	for _, name := range names {
		number, _, _ := strings.Cut(name, "-")
		id, err := item.ParseID(number)
		if err != nil {
			continue
		}
		if it, err := s.Find(id); err == nil && claimfile.Name(id, it.Created) == name {
			current = append(current, name)
		} else {
			others = append(others, name)
		}
	}
	if len(others) == 0 {
		return current, nil
	}
	renumberings, err := b.renumberings()
	if err != nil {
		return nil, err
	}
	former := map[string]bool{}
	for _, r := range renumberings {
		if it, err := s.Find(r.To); err == nil && it.Created == r.Created {
			former[claimfile.Name(r.From, r.Created)] = true
		}
	}
	return append(current, slices.DeleteFunc(others, func(name string) bool { return !former[name] })...), nil
}

// current reports whether an entry matches the current file.
func (e entry) current(info fs.FileInfo) bool {
	return os.SameFile(e.info, info) && e.info.ModTime().Equal(info.ModTime()) && e.info.Size() == info.Size()
}

// readClaim reads the file of a claim. A missing or damaged one is none: nobody could honor it. The error
// says that it cannot be read now, as that of another account, so nobody knows whether it is a claim.
func readClaim(root *os.Root, name string, now time.Time) (claimfile.Record, bool, error) {
	data, err := regular.ReadIn(root, name, claimfile.MaxSize)
	if err != nil {
		_, special := errors.AsType[*regular.NotRegularError](err)
		_, large := errors.AsType[*regular.TooLargeError](err)
		if special || large || errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return claimfile.Record{}, false, rooted.WithoutPath(err)
	}
	r, ok := claimfile.Parse(path.Base(name), string(data), now)
	return r, ok, nil
}

// unread returns the error of an item whose claim cannot be read.
func unread(id item.ID, name string, err error) error {
	return &storage.StoreError{
		Problem: fmt.Sprintf("work item #%s may have a holder: its claim %s/%s cannot be read: %v", id, claimfile.Directory, path.Base(name), err),
		Next:    "Let your account read that file, or wait until it can be read.",
		Err:     err,
	}
}

// Live returns a snapshot with the valid claims, according to the configuration of the project.
func (b *Book) Live(s *item.Snapshot, c item.Config) (*item.Snapshot, error) {
	all, err := b.records(func(names []string) ([]string, error) { return b.of(s, names) })
	if err != nil || len(all.records)+all.left+len(all.unread) == 0 {
		return s, err
	}
	if warnings := all.warnings(); len(warnings) > 0 {
		warned := *s
		warned.Warnings = append(slices.Clip(s.Warnings), warnings...)
		s = &warned
	}
	now := b.now()
	live := make(map[item.ID]claim.Claim, len(all.records))
	var moved []claimfile.Record
	for _, r := range all.records {
		if r.Ended(now) {
			continue
		}
		it, err := s.Find(r.Item)
		switch {
		case err != nil || it.Created != r.Created:
			moved = append(moved, r)
		case !c.Done(it.Status):
			live[it.ID] = r.Claim
		}
	}
	if err := b.follow(s, c, moved, live); err != nil {
		return nil, err
	}
	return s.WithClaims(live), nil
}

// warnings returns what the claims of files lack.
func (f found) warnings() []item.Warning {
	var all []item.Warning
	if f.left > 0 {
		all = append(all, item.Warning{
			File: claimfile.Directory, Reason: fmt.Sprintf("has more than %d MiB of claims, and copse did not read %s; remove the largest files", maxRead>>20, cleantext.Count(f.left, "file")),
		})
	}
	if len(f.unread) > 0 {
		name := slices.Min(slices.Collect(maps.Keys(f.unread)))
		all = append(all, item.Warning{
			File: claimfile.Directory + "/" + name, Reason: fmt.Sprintf("cannot be read: %v; nobody gets its item until it can (%s)", f.unread[name], cleantext.Count(len(f.unread), "such file")),
		})
	}
	return all
}

// Files returns the valid claims of a snapshot's items, as files of a store that clones share. It fails if
// it cannot read one.
func (b *Book) Files(s *item.Snapshot, c item.Config) (map[string]string, error) {
	all, err := b.records(func(names []string) ([]string, error) { return b.of(s, names) })
	if err != nil {
		return nil, err
	}
	if warnings := all.warnings(); len(warnings) > 0 {
		return nil, &storage.ConfigError{File: warnings[0].File, Reason: warnings[0].Reason}
	}
	if s, err = b.Live(s, c); err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, it := range s.Claims() {
		held, _ := s.Claim(it.ID)
		text, err := claimfile.Record{Item: it.ID, Created: it.Created, Claim: held}.Text()
		if err != nil {
			return nil, err
		}
		files[path.Join(claimfile.Directory, claimfile.Name(it.ID, it.Created))] = text
	}
	return files, nil
}

// follow adds the claims of items whose number has changed since.
func (b *Book) follow(s *item.Snapshot, c item.Config, moved []claimfile.Record, live map[item.ID]claim.Claim) error {
	if len(moved) == 0 {
		return nil
	}
	renumberings, err := b.renumberings()
	if err != nil {
		return err
	}
	type origin struct {
		number  item.ID
		created string
	}
	claims := make(map[origin]claim.Claim, len(moved))
	for _, claim := range moved {
		claims[origin{claim.Item, claim.Created}] = claim.Claim
	}
	for _, r := range renumberings {
		claim, ok := claims[origin{r.From, r.Created}]
		if !ok {
			continue
		}
		if it, err := s.Find(r.To); err == nil && it.Created == r.Created && !c.Done(it.Status) {
			live[it.ID] = claim
		}
	}
	return nil
}

// renumberings returns which items of the store got another number.
func (b *Book) renumberings() ([]renumbered.Record, error) {
	root, err := b.store.Open()
	if regular.Absent(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return layout.Renumberings(root)
}

// Of returns the claim of an item, including one under a former number; false if nobody holds it.
// It reads only the files of that item.
func (b *Book) Of(it *item.Summary) (claim.Claim, bool, error) {
	root, err := b.dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return claim.Claim{}, false, nil
	}
	if err != nil {
		return claim.Claim{}, false, fmt.Errorf("read the claims: %w", rooted.WithoutPath(err))
	}
	defer root.Close()
	r, ok, err := b.find(root, ".", it)
	if err != nil || !ok || r.Ended(b.now()) {
		return claim.Claim{}, false, err
	}
	return r.Claim, true, nil
}

// find returns the claim of an item in a directory, also under a number that the item had before.
func (b *Book) find(root *os.Root, dir string, it *item.Summary) (r claimfile.Record, ok bool, err error) {
	ids := []item.ID{it.ID}
	renumberings, err := b.renumberings()
	if err != nil {
		return r, false, err
	}
	for _, before := range renumbered.Of(renumberings, it.ID, it.Created) {
		ids = append(ids, before.From)
	}
	for _, id := range ids {
		name := path.Join(dir, claimfile.Name(id, it.Created))
		if r, ok, err = readClaim(root, name, b.now()); err != nil {
			return r, false, unread(it.ID, name, err)
		}
		if ok {
			break
		}
	}
	return r, ok, nil
}

// Due reports whether [Tx.Renew] should record a call of an agent.
func (b *Book) Due(by claim.Agent) (bool, error) {
	due, err := b.due(by)
	return len(due) > 0, err
}

// due returns the claims that a call of an agent changes, in their new state: its own are renewed,
// and those of its machine whose holder's process has ended get a note about it. Claims that cannot be read
// stay as they are.
func (b *Book) due(by claim.Agent) ([]claimfile.Record, error) {
	all, err := b.records(func(names []string) ([]string, error) { return names, nil })
	now := b.now().UTC().Truncate(time.Millisecond)
	find := claim.HolderCheck{By: by, Now: now, Worktrees: b.worktrees}
	var due []claimfile.Record
	for _, r := range all.records {
		switch noted := find.Mark(r.Claim); {
		case r.Ended(now):
			continue
		case by.Shares(r.Holder):
			if !r.Due(by, now) {
				continue
			}
			r.Claim = r.Renew(by, now)
		case noted != r.Claim:
			r.Claim = noted
		default:
			continue
		}
		due = append(due, r)
	}
	return due, err
}
