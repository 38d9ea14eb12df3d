// Package backlog implements every surface's operations on work items: reading and selecting them,
// previewing a deletion, starting work on one, and finding those whose pull request is merged.
//
// Use [New] with a backend. For a single step of the backend, such as creating an item, a surface
// calls the backend itself. Results are complete; a surface cuts and formats them. Errors are those
// of package item.
package backlog

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Backlog is the work items of one project. It is safe for concurrent use.
type Backlog struct {
	backend  storage.Backend
	snippets snippets
}

// New returns the work items of a backend.
func New(b storage.Backend) *Backlog { return &Backlog{backend: b} }

// View is one call's view of the items and the configuration of the project.
type View struct {
	Config item.Config
	*item.Snapshot
}

// reader is a backend that reads the configuration and the items at once.
type reader interface {
	Read(ctx context.Context) (item.Config, *item.Snapshot, error)
}

// Read returns the items of the project.
func (b *Backlog) Read(ctx context.Context) (View, error) {
	if at, ok := b.backend.(reader); ok {
		config, snapshot, err := at.Read(ctx)
		return View{config, snapshot}, err
	}
	config, err := b.backend.Config(ctx)
	if err != nil {
		return View{}, err
	}
	snapshot, err := b.backend.Snapshot(ctx)
	return View{config, snapshot}, err
}

// claimReader is a backend that finds the claim of one item without reading the others.
type claimReader interface {
	ClaimOf(ctx context.Context, it *item.Summary) (claim.Claim, bool, error)
}

// Claim returns the claim of an item; nil if nobody holds it.
func (b *Backlog) Claim(ctx context.Context, it *item.Summary) (*claim.Claim, error) {
	if one, ok := b.backend.(claimReader); ok {
		c, held, err := one.ClaimOf(ctx, it)
		if err != nil || !held {
			return nil, err
		}
		return &c, nil
	}
	s, err := b.backend.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	if c, held := s.Claim(it.ID); held {
		return &c, nil
	}
	return nil, nil
}

// HeldBy returns the holder of an item and the end of the claim, on one line; "" if there is none.
func (v View) HeldBy(id item.ID) string {
	c, held := v.Claim(id)
	if !held {
		return ""
	}
	return fmt.Sprintf("%s until %s", c.Holder.Short(), c.End().UTC().Format(time.RFC3339))
}

// Holder returns the holder of an item on one line; "" if there is none.
func (v View) Holder(id item.ID) string {
	if c, held := v.Claim(id); held {
		return c.Holder.Short()
	}
	return ""
}

// Warnings returns the problems of the project, then those of its items.
func (v View) Warnings() []item.Warning {
	return slices.Concat(v.Config.Warnings, v.Snapshot.Warnings)
}

// Query selects items by a filter and, if Text is not empty, by a text in their titles
// and descriptions.
type Query struct {
	item.Filter
	Text string
}

// Select returns the items that q selects, by ID, and the number of those that it would select beside
// them in other iterations. That is counted only if q has a text or selects nothing. A text of blanks
// counts as none.
func (v View) Select(q Query) (hits []item.Hit, elsewhere int) {
	everywhere := q.Filter
	everywhere.All = true
	if strings.TrimSpace(q.Text) == "" {
		selected := v.List(v.Config, q.Filter)
		if len(selected) == 0 && !q.All {
			elsewhere = len(v.List(v.Config, everywhere))
		}
		hits = make([]item.Hit, len(selected))
		for i, it := range selected {
			hits[i] = item.Hit{Summary: it}
		}
		return hits, elsewhere
	}
	// One search for both: it reads every text.
	hits = v.Search(v.Config, q.Text, everywhere)
	in := cmp.Or(q.Iteration, v.Config.CurrentIteration)
	if q.All || in == "" {
		return hits, 0
	}
	all := len(hits)
	hits = slices.DeleteFunc(hits, func(h item.Hit) bool { return h.Iteration != in })
	return hits, all - len(hits)
}

// Unknown returns sentences about the values of a filter that the project does not know: the likely
// reason for an empty result.
func (v View) Unknown(f item.Filter) []string {
	var unknown []string
	for _, p := range []item.Patch{{Type: given(f.Type)}, {Status: given(f.Status)}, {Priority: given(f.Priority)}} {
		if _, err := v.Config.Check(p); err != nil {
			unknown = append(unknown, err.Error())
		}
	}
	if f.Iteration != "" && !f.All && !slices.Contains(v.Config.Iterations, f.Iteration) {
		unknown = append(unknown, fmt.Sprintf("Unknown iteration %q. Iterations: %s", f.Iteration, foreign.Mention(v.Config.Iterations...)))
	}
	return unknown
}

// given returns nil for the empty string, which filters do not restrict by.
func given(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Related returns the items that list finds for an item; the error is that of an item
// that does not exist.
func (b *Backlog) Related(ctx context.Context, v View, id item.ID, list func(*item.Snapshot, item.ID) []*item.Summary) ([]*item.Summary, error) {
	found := list(v.Snapshot, id)
	if len(found) == 0 {
		_, err := b.backend.Item(ctx, id)
		return nil, err
	}
	return found, nil
}

// PreviewDeletion returns the effects of deleting an item, and the problems of items that could be
// affected without being named. The error is a [*storage.HeldError] if an agent other than that of the
// context holds the item and it is not to be stolen.
func (b *Backlog) PreviewDeletion(ctx context.Context, id item.ID, steal bool) (item.Preview, []item.Warning, error) {
	it, err := b.backend.Item(ctx, id)
	if err != nil {
		return item.Preview{}, nil, err
	}
	s, err := b.backend.Snapshot(ctx)
	if err != nil {
		return item.Preview{}, nil, err
	}
	if c, held := s.Claim(id); held && !steal && !claim.AgentOf(ctx).Shares(c.Holder) {
		return item.Preview{}, nil, &storage.HeldError{ID: id, Claim: c}
	}
	p, err := s.Preview(it)
	return p, s.Warnings, err
}
