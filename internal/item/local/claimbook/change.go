package claimbook

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/claimfile"
	"github.com/copse-dev/copse/internal/item/renumbered"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// Tx changes the claims of a book while nobody else does.
type Tx struct {
	book *Book
	tx   *lockedstore.Tx
	by   claim.Agent
}

// Change calls do while nobody else changes the claims. tx is the enclosing change of the store,
// and the agent is that of ctx.
func (b *Book) Change(ctx context.Context, tx *lockedstore.Tx, do func(*Tx) error) error {
	by := claim.AgentOf(ctx)
	if b.locked == nil {
		return do(&Tx{book: b, tx: tx, by: by})
	}
	return b.locked.Change(ctx, func(tx *lockedstore.Tx) error { return do(&Tx{book: b, tx: tx, by: by}) })
}

// Take assigns an item to the agent of a request. The error is a [*storage.HeldError] if another
// agent holds the item.
func (t *Tx) Take(it *item.Summary, r storage.ClaimRequest) (claim.Claim, error) {
	old, err := t.former(it)
	if err != nil {
		return claim.Claim{}, err
	}
	now := t.book.now().UTC().Truncate(time.Millisecond)
	taken, err := r.Take(it.ID, old, t.by, now)
	if err == nil {
		return taken, t.put(it, taken)
	}
	find := claim.HolderCheck{By: t.by, Now: now, Worktrees: t.book.worktrees}
	if gone := find.Mark(*old); gone != *old {
		if err := t.put(it, gone); err != nil {
			return claim.Claim{}, err
		}
	}
	return claim.Claim{}, err
}

// NoteGone records which holders have ended, so their claims end after a while, and returns the
// snapshot with the notes.
func (t *Tx) NoteGone(s *item.Snapshot) (*item.Snapshot, error) {
	noted := map[item.ID]claim.Claim{}
	find := claim.HolderCheck{By: t.by, Now: t.book.now().UTC().Truncate(time.Millisecond), Worktrees: t.book.worktrees}
	for _, it := range s.Claims() {
		held, _ := s.Claim(it.ID)
		noted[it.ID] = held
		gone := find.Mark(held)
		if gone == held {
			continue
		}
		if err := t.put(it, gone); err != nil {
			return s, err
		}
		noted[it.ID] = gone
	}
	return s.WithClaims(noted), nil
}

// Release ends the claim of an item and returns it; false if nobody holds the item. Only with
// steal does it end that of another agent.
func (t *Tx) Release(it *item.Summary, steal bool) (claim claim.Claim, was bool, err error) {
	now := t.book.now()
	old, err := t.former(it)
	if err != nil {
		return claim, false, err
	}
	if old == nil || old.Ended(now) {
		return claim, false, t.Forget(it)
	}
	if !steal {
		if err := storage.CheckHolder(it.ID, old, t.by, now); err != nil {
			return claim, false, err
		}
	}
	return *old, true, t.Forget(it)
}

// Finish calls do, which finishes or deletes an item, and ends the claim of the item. If another
// agent holds the item, it calls do only with steal, and stolen names the holder.
func (t *Tx) Finish(it *item.Summary, steal bool, do func(stolen string) error) error {
	stolen, err := t.Check(it, steal)
	if err != nil {
		return err
	}
	if err := do(stolen); err != nil {
		return err
	}
	if old, err := t.former(it); err != nil || old == nil {
		return err
	}
	return t.Forget(it)
}

// Check returns a [*storage.HeldError] if another agent holds an item, or with steal, the holder.
func (t *Tx) Check(it *item.Summary, steal bool) (stolen string, err error) {
	old, err := t.former(it)
	if err != nil {
		return "", err
	}
	switch err := storage.CheckHolder(it.ID, old, t.by, t.book.now()); {
	case err == nil:
		return "", nil
	case steal:
		return old.Holder.String(), nil
	default:
		return "", err
	}
}

// Forget removes the claim of an item, under each of its numbers.
func (t *Tx) Forget(it *item.Summary) error {
	renumberings, err := t.book.renumberings()
	err = errors.Join(err, t.remove(it))
	for _, r := range renumbered.Of(renumberings, it.ID, it.Created) {
		before := *it
		before.ID = r.From
		err = errors.Join(err, t.remove(&before))
	}
	return err
}

// Renew records a call of the agent; see [Book.Due].
func (t *Tx) Renew() error {
	due, err := t.book.due(t.by)
	if err != nil {
		return err
	}
	for _, r := range due {
		if err := t.put(&item.Summary{ID: r.Item, Created: r.Created}, r.Claim); err != nil {
			return err
		}
	}
	return nil
}

// former returns the claim of an item as its file has it now, also under a number that it
// had before; nil if there is none.
func (t *Tx) former(it *item.Summary) (*claim.Claim, error) {
	r, ok, err := t.book.find(t.tx.Root(), t.book.directory, it)
	if err != nil || !ok {
		return nil, err
	}
	return &r.Claim, nil
}

func (t *Tx) name(it *item.Summary) string {
	return path.Join(t.book.directory, claimfile.Name(it.ID, it.Created))
}

// put writes the claim of an item.
func (t *Tx) put(it *item.Summary, claim claim.Claim) error {
	text, err := claimfile.Record{Item: it.ID, Created: it.Created, Claim: claim}.Text()
	if err != nil {
		return err
	}
	if err := t.tx.MakeDir(t.book.directory); err != nil {
		return err
	}
	return t.tx.Write(lockedstore.File{Name: t.name(it), Data: []byte(text), Common: true})
}

// remove removes the claim of an item, if there is one.
func (t *Tx) remove(it *item.Summary) error {
	if err := t.tx.Remove(t.name(it)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
