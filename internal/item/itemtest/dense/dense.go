// Package dense numbers the items of a backend that leaves gaps, so that the same tests work for all
// backends.
package dense

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lazyregexp"
)

// Numbering gives the items of a backend the numbers 1, 2, 3 in the order in which a test sees them.
type Numbering struct {
	mu    sync.Mutex
	reals []item.ID
}

// dense returns the number that a test knows an item by.
func (n *Numbering) dense(real item.ID) item.ID {
	if real == 0 {
		return 0
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	at := slices.Index(n.reals, real)
	if at < 0 {
		at = len(n.reals)
		n.reals = append(n.reals, real)
	}
	return item.ID(at + 1)
}

// real returns the number of an item in the backend, or one that no item has.
func (n *Numbering) real(dense item.ID) item.ID {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case dense == 0:
		return 0
	case int(dense) > len(n.reals):
		return item.MaxID - dense
	}
	return n.reals[dense-1]
}

// Backend returns a backend with dense numbers.
func (n *Numbering) Backend(b storage.Backend) storage.Backend { return dense{b, n} }

// each returns the numbers of a list.
func each(list []item.ID, number func(item.ID) item.ID) []item.ID {
	if list == nil {
		return nil
	}
	other := make([]item.ID, len(list))
	for i, id := range list {
		other[i] = number(id)
	}
	return other
}

// dense is a backend as tests number it.
type dense struct {
	storage.Backend
	n *Numbering
}

func (d dense) item(it item.Item) item.Item {
	it.ID, it.Parent, it.DependsOn = d.n.dense(it.ID), d.n.dense(it.Parent), each(it.DependsOn, d.n.dense)
	return it
}

// patch translates the numbers in a patch.
func (d dense) patch(p item.Patch, number func(item.ID) item.ID) item.Patch {
	if p.Parent != nil {
		p.Parent = new(number(*p.Parent))
	}
	if p.DependsOn != nil {
		p.DependsOn = new(each(*p.DependsOn, number))
	}
	return p
}

func (d dense) change(c changes.Change) changes.Change {
	c.Item, c.Before, c.After = d.n.dense(c.Item), d.patch(c.Before, d.n.dense), d.patch(c.After, d.n.dense)
	return c
}

var reference = lazyregexp.New(`#\d+`)

// text translates the numbers in a message.
func (d dense) text(s string) string {
	return reference.Get().ReplaceAllStringFunc(s, func(ref string) string {
		id, err := item.ParseID(ref[1:])
		if err != nil {
			return ref
		}
		if id > item.MaxID/2 { // one that no item has
			return "#" + (item.MaxID - id).String()
		}
		return "#" + d.n.dense(id).String()
	})
}

// error translates the numbers in an error.
func (d dense) error(err error) error {
	number := func(id item.ID) item.ID {
		if id > item.MaxID/2 {
			return item.MaxID - id
		}
		return d.n.dense(id)
	}
	switch e, ok := errors.AsType[*item.InvalidError](err); {
	case ok:
		return &item.InvalidError{Field: e.Field, Problem: d.text(e.Problem)}
	case item.IsNotFound(err):
		e, _ := errors.AsType[*item.NotFoundError](err)
		return &item.NotFoundError{ID: number(e.ID)}
	}
	if e, ok := errors.AsType[*storage.ChangedError](err); ok {
		return &storage.ChangedError{ID: number(e.ID)}
	}
	if e, ok := errors.AsType[*storage.HeldError](err); ok {
		return &storage.HeldError{ID: number(e.ID), Claim: e.Claim}
	}
	if e, ok := errors.AsType[*changes.UndoError](err); ok {
		return &changes.UndoError{ID: number(e.ID), Change: e.Change, Reason: d.text(e.Reason)}
	}
	return err
}

// Snapshot implements [storage.Backend].
func (d dense) Snapshot(ctx context.Context) (*item.Snapshot, error) {
	s, err := d.Backend.Snapshot(ctx)
	if err != nil {
		return nil, d.error(err)
	}
	entries, claims := map[item.ID]*item.Entry{}, map[item.ID]claim.Claim{}
	for _, row := range s.List(item.Config{}, item.Filter{All: true}) {
		it := item.Item{Summary: *row}
		if whole, err := d.Backend.Item(ctx, row.ID); err == nil {
			it.Description = whole.Description
		}
		it = d.item(it)
		entries[it.ID] = item.NewEntry(&it)
		if c, ok := s.Claim(row.ID); ok {
			claims[it.ID] = c
		}
	}
	return new(item.Snapshot).With(entries, s.Warnings).WithClaims(claims), nil
}

// Item implements [storage.Backend].
func (d dense) Item(ctx context.Context, id item.ID) (item.Item, error) {
	it, err := d.Backend.Item(ctx, d.n.real(id))
	return d.item(it), d.error(err)
}

// Create implements [storage.Backend].
func (d dense) Create(ctx context.Context, draft item.Draft) (item.Item, error) {
	draft.Parent, draft.DependsOn = d.n.real(draft.Parent), each(draft.DependsOn, d.n.real)
	it, err := d.Backend.Create(ctx, draft)
	return d.item(it), d.error(err)
}

// Update implements [storage.Backend].
func (d dense) Update(ctx context.Context, id item.ID, p item.Patch) (item.Item, error) {
	it, err := d.Backend.Update(ctx, d.n.real(id), d.patch(p, d.n.real))
	return d.item(it), d.error(err)
}

// AddComment implements [storage.Backend].
func (d dense) AddComment(ctx context.Context, id item.ID, author, text string) (item.Comment, error) {
	c, err := d.Backend.AddComment(ctx, d.n.real(id), author, text)
	return c, d.error(err)
}

// Delete implements [storage.Backend]. What a preview saw has other numbers, so it is looked at again.
func (d dense) Delete(ctx context.Context, id item.ID, seen item.Fingerprint, steal bool) error {
	if seen != "" {
		it, err := d.Item(ctx, id)
		if err != nil {
			return err
		}
		s, err := d.Snapshot(ctx)
		if err != nil {
			return err
		}
		now, err := s.Preview(it)
		if err != nil {
			return err
		}
		if now.Fingerprint != seen {
			return &storage.ChangedError{ID: id}
		}
	}
	return d.error(d.Backend.Delete(ctx, d.n.real(id), "", steal))
}

// Restore implements [storage.Backend].
func (d dense) Restore(ctx context.Context, id item.ID) (item.Item, error) {
	it, err := d.Backend.Restore(ctx, d.n.real(id))
	return d.item(it), d.error(err)
}

// Claim implements [storage.Claimer].
func (d dense) Claim(ctx context.Context, r storage.ClaimRequest) (storage.Claimed, error) {
	r.ID = d.n.real(r.ID)
	c, err := d.Backend.Claim(ctx, r)
	c.Item = d.item(c.Item)
	return c, d.error(err)
}

// Release implements [storage.Claimer].
func (d dense) Release(ctx context.Context, id item.ID, steal bool) (claim.Claim, bool, error) {
	c, was, err := d.Backend.Release(ctx, d.n.real(id), steal)
	return c, was, d.error(err)
}

// History implements [storage.Historian].
func (d dense) History(ctx context.Context, id item.ID) ([]changes.Change, error) {
	log, err := d.Backend.History(ctx, d.n.real(id))
	for i, c := range log {
		log[i] = d.change(c)
	}
	return log, d.error(err)
}

// Undo implements [storage.Historian].
func (d dense) Undo(ctx context.Context, id item.ID, change string, steal bool) (changes.Change, error) {
	c, err := d.Backend.Undo(ctx, d.n.real(id), change, steal)
	return d.change(c), d.error(err)
}
