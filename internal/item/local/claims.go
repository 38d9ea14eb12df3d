package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/lockedstore"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
	"github.com/copse-dev/copse/internal/xec/family"
)

// claimBook is where the claims of a store are. Each claim is a file; see package claimfile.
//
//   - In the store that all worktrees share, the claims are a part of it, and a sync sends
//     them to the other clones.
//   - A store in the tree of a repository has them in git's directory: each worktree has
//     items of its own there, and all of them have the same claims.
//   - Elsewhere they are in the private directory of the store.
type claimBook struct {
	dir rooted.Dir
	// locked is the lock of a book outside of the store. It is taken inside of that of the store.
	// nil: the book is in the store, under directory.
	locked *lockedstore.Store
	folder string

	mu   sync.Mutex
	read map[string]claimEntry // by name
}

// claimEntry is the claim of a file that was read.
type claimEntry struct {
	info   fs.FileInfo
	record claimfile.Record
	ok     bool
}

// newClaimBook returns the claims of the store in a directory.
func newClaimBook(dir rooted.Dir, place Location) *claimBook {
	switch {
	case place.Shared != "" && dir.Path() == place.Shared:
		return &claimBook{dir: dir.Sub(claimfile.Folder), folder: claimfile.Folder}
	case place.Shared != "" && dir.Name == folderName:
		common := place.sharedDir()
		common.Name = path.Dir(common.Name)
		wall := rooted.Dir{Wall: common.Wall, Name: "."}
		return &claimBook{
			dir: common.Sub(claimfile.Folder), folder: path.Join(common.Name, claimfile.Folder),
			locked: lockedstore.NewIn(wall, path.Join(common.Name, claimfile.Folder, lockFile), lockWait),
		}
	default:
		return &claimBook{dir: dir.Sub(privateFolder + "/" + claimfile.Folder), folder: privateFolder + "/" + claimfile.Folder}
	}
}

// lockFile is the lock of a book outside of a store.
const lockFile = "lock"

// racy is how old a file must be for its times to show each change of it.
const racy = 100 * time.Millisecond

// records returns the claims of all files, by the name of the file. What was read before is
// used again where the file did not change.
func (b *claimBook) records() (map[string]claimfile.Record, error) {
	root, err := b.dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the claims: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	names, err := readNames(root, ".")
	if err != nil {
		return nil, fmt.Errorf("read the claims: %w", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	read := make(map[string]claimEntry, len(names))
	records := make(map[string]claimfile.Record, len(names))
	for _, name := range names {
		if path.Ext(name) != claimfile.Extension {
			continue
		}
		info, err := root.Lstat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		known, ok := b.read[name]
		if !ok || !known.current(info) {
			known = claimEntry{info: info}
			known.record, known.ok = readClaim(root, name)
		}
		if time.Since(info.ModTime()) > racy {
			read[name] = known
		}
		if known.ok {
			records[name] = known.record
		}
	}
	b.read = read
	return records, nil
}

// current reports whether an entry is of the file as it is now.
func (e claimEntry) current(info fs.FileInfo) bool {
	return os.SameFile(e.info, info) && e.info.ModTime().Equal(info.ModTime()) && e.info.Size() == info.Size()
}

// readClaim reads the file of a claim. One that cannot be read is none: nobody could honor it.
func readClaim(root *os.Root, name string) (claimfile.Record, bool) {
	data, err := regular.ReadIn(root, name, claimfile.MaxSize)
	if err != nil {
		return claimfile.Record{}, false
	}
	return claimfile.Parse(path.Base(name), string(data))
}

// change calls do while nobody else changes the claims. tx is the change of the store.
func (b *claimBook) change(ctx context.Context, tx *lockedstore.Tx, do func(claims) error) error {
	if b.locked == nil {
		return do(claims{tx: tx, folder: b.folder})
	}
	return b.locked.Change(ctx, func(tx *lockedstore.Tx) error { return do(claims{tx: tx, folder: b.folder}) })
}

// claims are the claims that are being changed.
type claims struct {
	tx     *lockedstore.Tx
	folder string
}

func (c claims) name(it *item.Summary) string {
	return path.Join(c.folder, claimfile.Name(it.ID, it.Created))
}

// of returns the claim of an item as its file has it now; nil if there is none.
func (c claims) of(it *item.Summary) *item.Claim {
	r, ok := readClaim(c.tx.Root(), c.name(it))
	if !ok {
		return nil
	}
	return &r.Claim
}

// put writes the claim of an item.
func (c claims) put(it *item.Summary, claim item.Claim) error {
	text, err := claimfile.Record{Item: it.ID, Created: it.Created, Claim: claim}.Text()
	if err != nil {
		return err
	}
	if err := c.tx.MakeFolder(c.folder); err != nil {
		return err
	}
	return c.tx.Write(lockedstore.File{Name: c.name(it), Data: []byte(text)})
}

// remove removes the claim of an item, if there is one.
func (c claims) remove(it *item.Summary) error {
	if err := c.tx.Remove(c.name(it)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// claimed returns the snapshot with the claims that count.
func (f *folder) claimed(s *item.Snapshot, c item.Config) (*item.Snapshot, error) {
	records, err := f.claims.records()
	if err != nil || len(records) == 0 {
		return s, err
	}
	now := f.now()
	live := make(map[item.ID]item.Claim, len(records))
	var moved []claimfile.Record
	for _, r := range records {
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
	f.follow(s, c, moved, live)
	return s.WithClaims(live), nil
}

// withClaims returns the snapshot with the claims that count, as the configuration is now. A
// configuration that cannot be read is the problem of others.
func (f *folder) withClaims(s *item.Snapshot) (*item.Snapshot, error) {
	c, err := f.readConfig()
	if err != nil {
		c = item.Config{}
	}
	return f.claimed(s, c)
}

// follow adds the claims of items that got another number since.
func (f *folder) follow(s *item.Snapshot, c item.Config, moved []claimfile.Record, live map[item.ID]item.Claim) {
	if len(moved) == 0 {
		return
	}
	records := f.renumberings()
	for _, claim := range moved {
		for _, r := range records {
			if r.From != claim.Item || r.Created != claim.Created {
				continue
			}
			if it, err := s.Find(r.To); err == nil && it.Created == claim.Created && !c.Done(it.Status) {
				live[it.ID] = claim.Claim
			}
		}
	}
}

// renumberings returns which items got another number.
func (f *folder) renumberings() []renumbered.Record {
	root, err := f.dir.Open()
	if err != nil {
		return nil
	}
	defer root.Close()
	data, err := regular.ReadIn(root, renumbered.Name, maxOwnFile)
	if err != nil {
		return nil
	}
	return renumbered.Parse(string(data))
}

// claim gives an item to the agent of the change.
func (w *writer) claim(ctx context.Context, r item.ClaimRequest) (item.Claimed, error) {
	config, err := w.readConfig()
	if err != nil {
		return item.Claimed{}, err
	}
	var got item.Claimed
	err = w.claims.change(ctx, w.tx, func(c claims) error {
		if r.ID != 0 {
			got, err = w.claimOne(c, config, r)
		} else {
			got, err = w.claimBest(c, config, r)
		}
		return err
	})
	if err == nil && got.Claim.StolenFrom != "" && got.Claim.Since.Equal(got.Claim.Renewed) {
		err = w.record(&got.Item, item.Change{Kind: item.Stolen, StolenFrom: got.Claim.StolenFrom})
	}
	return got, err
}

// claimOne claims an item that was asked for.
func (w *writer) claimOne(c claims, config item.Config, r item.ClaimRequest) (item.Claimed, error) {
	it, err := w.item(r.ID)
	if err != nil {
		return item.Claimed{}, err
	}
	if config.Done(it.Status) {
		return item.Claimed{}, &item.InvalidError{Field: "id", Problem: fmt.Sprintf("Work item #%d is %q. Set another status before claiming it", it.ID, it.Status)}
	}
	claim, err := w.take(c, &it.Summary, r)
	return item.Claimed{Item: it, Claim: claim}, err
}

// claimBest claims the best item that nobody holds.
func (w *writer) claimBest(c claims, config item.Config, r item.ClaimRequest) (item.Claimed, error) {
	all, err := w.snapshot()
	if err != nil {
		return item.Claimed{}, err
	}
	s, err := w.claimed(all, config)
	if err != nil {
		return item.Claimed{}, err
	}
	if s, err = w.markGone(c, s); err != nil {
		return item.Claimed{}, err
	}
	for _, best := range s.Claimable(config) {
		it, err := w.item(best.ID)
		if err != nil {
			continue // removed, or damaged, since it was listed
		}
		claim, err := w.take(c, &it.Summary, r)
		if _, held := errors.AsType[*item.HeldError](err); held {
			continue
		}
		return item.Claimed{Item: it, Claim: claim}, err
	}
	return item.Claimed{}, s.NothingToClaim(config)
}

// take gives an item to the agent of the change, if no other has it.
func (w *writer) take(c claims, it *item.Summary, r item.ClaimRequest) (item.Claim, error) {
	old := w.former(c, it)
	now := w.now().UTC().Truncate(time.Millisecond)
	claim, err := r.Take(it.ID, old, w.by, now)
	if err == nil {
		return claim, c.put(it, claim)
	}
	if gone := old.MarkGone(w.by, now); gone != *old {
		if err := c.put(it, gone); err != nil {
			return item.Claim{}, err
		}
	}
	return item.Claim{}, err
}

// former returns the claim of an item, also under a number that it had before.
func (w *writer) former(c claims, it *item.Summary) *item.Claim {
	if claim := c.of(it); claim != nil {
		return claim
	}
	for _, r := range renumbered.Of(w.renumberings(), it.ID, it.Created) {
		before := *it
		before.ID = r.From
		if claim := c.of(&before); claim != nil {
			return claim
		}
	}
	return nil
}

// markGone notes which holders were found gone, so that their claims end after a while, and
// returns the snapshot with the notes.
func (w *writer) markGone(c claims, s *item.Snapshot) (*item.Snapshot, error) {
	noted := map[item.ID]item.Claim{}
	now := w.now().UTC().Truncate(time.Millisecond)
	alive := map[family.Process]bool{} // looked at once
	for _, it := range s.Claims() {
		claim, _ := s.Claim(it.ID)
		noted[it.ID] = claim
		process := claim.Holder.Process
		if process.PID == 0 || !claim.Gone.IsZero() || alive[process] {
			continue
		}
		gone := claim.MarkGone(w.by, now)
		if gone == claim {
			alive[process] = true
			continue
		}
		if err := c.put(it, gone); err != nil {
			return s, err
		}
		noted[it.ID] = gone
	}
	return s.WithClaims(noted), nil
}

// release ends the claim of an item.
func (w *writer) release(ctx context.Context, id item.ID, steal bool) (claim item.Claim, was bool, err error) {
	it, err := w.item(id)
	if err != nil {
		return claim, false, err
	}
	err = w.claims.change(ctx, w.tx, func(c claims) error {
		now := w.now()
		old := w.former(c, &it.Summary)
		if old == nil || old.Ended(now) {
			return w.forgetClaim(c, &it.Summary)
		}
		if !steal {
			if err := item.CheckHolder(id, old, w.by, now); err != nil {
				return err
			}
		}
		claim, was = *old, true
		return w.forgetClaim(c, &it.Summary)
	})
	if err == nil && was && !w.by.Continues(claim.Holder) {
		err = w.record(&it, item.Change{Kind: item.Stolen, StolenFrom: claim.Holder.String()})
	}
	return claim, was, err
}

// forgetClaim removes the claim of an item, under each number that it had.
func (w *writer) forgetClaim(c claims, it *item.Summary) error {
	err := c.remove(it)
	for _, r := range renumbered.Of(w.renumberings(), it.ID, it.Created) {
		before := *it
		before.ID = r.From
		err = errors.Join(err, c.remove(&before))
	}
	return err
}

// finishing does what finishes an item, and ends its claim. If another agent holds the item,
// nothing is done, unless the patch says so: then stolen names the holder.
func (w *writer) finishing(ctx context.Context, it *item.Summary, steal bool, do func(stolen string) error) error {
	return w.claims.change(ctx, w.tx, func(c claims) error {
		now, stolen := w.now(), ""
		old := w.former(c, it)
		if err := item.CheckHolder(it.ID, old, w.by, now); err != nil {
			if !steal {
				return err
			}
			stolen = old.Holder.String()
		}
		if err := do(stolen); err != nil {
			return err
		}
		if old == nil {
			return nil
		}
		return w.forgetClaim(c, it)
	})
}

// Claim is of item.Backend.
func (s *Store) Claim(ctx context.Context, r item.ClaimRequest) (got item.Claimed, err error) {
	if r, err = r.Check(item.AgentOf(ctx)); err != nil {
		return got, err
	}
	err = s.changeClaims(ctx, func(w *writer) error {
		got, err = w.claim(ctx, r)
		return err
	})
	return got, err
}

// Release is of item.Backend.
func (s *Store) Release(ctx context.Context, id item.ID, steal bool) (claim item.Claim, was bool, err error) {
	err = s.changeClaims(ctx, func(w *writer) error {
		claim, was, err = w.release(ctx, id, steal)
		return err
	})
	return claim, was, err
}

// Renew is of item.Backend.
func (s *Store) Renew(ctx context.Context) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	by := item.AgentOf(ctx)
	due := func() ([]claimfile.Record, error) {
		records, err := f.claims.records()
		now := f.now()
		var list []claimfile.Record
		for _, r := range records {
			if by.Is(r.Holder) && !r.Ended(now) && r.Due(now) {
				list = append(list, r)
			}
		}
		return list, err
	}
	if list, err := due(); err != nil || len(list) == 0 {
		return err
	}
	return s.changeClaims(ctx, func(w *writer) error {
		return f.claims.change(ctx, w.tx, func(c claims) error {
			list, err := due()
			if err != nil {
				return err
			}
			for _, r := range list {
				it := &item.Summary{ID: r.Item, Created: r.Created}
				if err := c.put(it, r.Renew(by, f.now().UTC().Truncate(time.Millisecond), r.Lease())); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// ClaimOf returns the claim of an item, false if nobody holds it. It reads one file.
func (s *Store) ClaimOf(ctx context.Context, it *item.Summary) (item.Claim, bool, error) {
	f, err := s.find(ctx)
	if err != nil {
		return item.Claim{}, false, err
	}
	root, err := f.claims.dir.Open()
	if errors.Is(err, fs.ErrNotExist) {
		return item.Claim{}, false, nil
	}
	if err != nil {
		return item.Claim{}, false, fmt.Errorf("read the claims: %w", lockedstore.WithoutPath(err))
	}
	defer root.Close()
	r, ok := readClaim(root, claimfile.Name(it.ID, it.Created))
	for _, before := range renumbered.Of(f.renumberings(), it.ID, it.Created) {
		if !ok {
			r, ok = readClaim(root, claimfile.Name(before.From, it.Created))
		}
	}
	c, err := f.readConfig()
	if err != nil || !ok || r.Ended(f.now()) || c.Done(it.Status) {
		return item.Claim{}, false, err
	}
	return r.Claim, true, nil
}

// changeClaims is change for claims, which other clones must know soon.
func (s *Store) changeClaims(ctx context.Context, do func(*writer) error) error {
	f, err := s.find(ctx)
	if err != nil {
		return err
	}
	s.claimed.Store(true)
	return s.changeIn(ctx, f, do)
}

// PublishedClaims notes that other clones know the claims.
func (s *Store) PublishedClaims() { s.claimed.Store(false) }

// ChangedClaims reports whether claims were changed by way of this Store that other clones
// may not know.
func (s *Store) ChangedClaims() bool { return s.claimed.Load() }
