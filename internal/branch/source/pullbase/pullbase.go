// Package pullbase reads chains of pull requests: a branch with an open pull request is stacked
// on the branch that the request merges into.
//
// It sends no request. It reads the list that the last verdict on a stack left in the user's cache.
package pullbase

import (
	"context"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/branch/source/pulllist"
)

// Reader reads the chains.
type Reader struct{ Pulls pulllist.Dir }

// Name returns the name of the source.
func (Reader) Name() string { return "pull-request" }

// Files returns the file of the list.
func (p Reader) Files(r source.Repo) []string { return p.Pulls.Files(r) }

// Read reads the chains.
func (p Reader) Read(ctx context.Context, r source.Repo) (source.Record, error) {
	list, err := p.Pulls.Read(ctx, r)
	if err != nil {
		return source.Record{}, err
	}
	return Chains(list), nil
}

// Chains returns the edges of a list. Of several pull requests with one head, the newest is used. A
// base that is not a head is a trunk.
func Chains(list pulllist.List) source.Record {
	var record source.Record
	heads := make(map[string]bool, len(list.Pulls))
	for _, p := range list.Pulls {
		heads[p.Head] = true
	}
	seen, trunks := make(map[string]bool, len(list.Pulls)), map[string]bool{}
	for _, p := range list.Pulls {
		if !source.Valid(p.Head) || !source.Valid(p.Base) || p.Head == p.Base || seen[p.Head] {
			continue
		}
		seen[p.Head] = true
		record.Edges = append(record.Edges, source.Edge{Child: p.Head, Parent: p.Base, PR: p.Number})
		if !heads[p.Base] && !trunks[p.Base] {
			trunks[p.Base] = true
			record.Trunks = append(record.Trunks, p.Base)
		}
	}
	return record
}
