// Package githubstack reads GitHub's own stacks of pull requests, in which each has a position from
// the bottom up.
//
// It sends no request. It reads the list that the last verdict on a stack left in the user's cache.
// A merged member is no longer in the list, so the next member rests on the one below it.
package githubstack

import (
	"cmp"
	"context"
	"slices"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/pulllist"
	"github.com/copse-dev/copse/internal/distinct"
)

// Reader reads the stacks.
type Reader struct{ Pulls pulllist.Dir }

// Name returns the name of the source.
func (Reader) Name() string { return "github-stack" }

// Files returns the file of the list.
func (g Reader) Files(r source.Repo) []string { return g.Pulls.Files(r) }

// Read reads the stacks.
func (g Reader) Read(ctx context.Context, r source.Repo) (source.Record, error) {
	list, err := g.Pulls.Read(ctx, r)
	if err != nil {
		return source.Record{}, err
	}
	return Stacks(list), nil
}

// Stacks returns the edges of a list.
func Stacks(list pulllist.List) source.Record {
	var members []pulllist.Pull
	heads := map[string]bool{}
	for _, p := range list.Pulls {
		if p.Stack != nil && source.Valid(p.Head) && source.Valid(p.Stack.Base) && !heads[p.Head] {
			heads[p.Head] = true
			members = append(members, p)
		}
	}
	slices.SortStableFunc(members, func(a, b pulllist.Pull) int {
		return cmp.Or(cmp.Compare(a.Stack.ID, b.Stack.ID), cmp.Compare(a.Stack.Position, b.Stack.Position))
	})
	var record source.Record
	var trunks distinct.List[string]
	for i, p := range members {
		parent := p.Stack.Base
		if i > 0 && members[i-1].Stack.ID == p.Stack.ID {
			parent = members[i-1].Head
		} else if !heads[parent] {
			trunks.Add(parent)
		}
		if parent != p.Head {
			record.Edges = append(record.Edges, source.Edge{Child: p.Head, Parent: parent, PR: p.Number})
		}
	}
	record.Trunks = trunks.Values()
	return record
}
