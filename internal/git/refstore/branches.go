package refstore

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Branches returns the short names of all branches, sorted by their bytes. The caller owns the
// slice.
func (s *Store) Branches(ctx context.Context) ([]string, error) {
	names, links, err := s.list(ctx)
	if err != nil {
		return nil, fmt.Errorf("list branches: %w", err)
	}
	for _, name := range links {
		// Its target can change without a trace in its own directory.
		exists, err := s.HasBranch(name)
		if err != nil {
			return nil, fmt.Errorf("list branches: %w", err)
		}
		if i, found := slices.BinarySearch(names, name); found && !exists {
			names = slices.Delete(names, i, i+1)
		}
	}
	return names, nil
}

// list returns the names of all branches that are not broken, and of those that are symbolic refs.
func (s *Store) list(ctx context.Context) (names, links []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// Loose refs first: a ref that is packed in between then appears as packed.
	left := maxFiles
	changed, err := s.heads.update(ctx, filepath.Join(s.commonDir, "refs", "heads"), s.hashLen, &left)
	repacked := false
	if err == nil {
		repacked, err = s.loadPacked()
	}
	if err != nil {
		s.merged = nil
		return nil, nil, err
	}
	if changed || repacked || s.merged == nil {
		s.merged, s.links = merge(s.heads.all(""), s.packed.branches)
	}
	return slices.Clone(s.merged), s.links, nil
}

// looseRef is a branch that has a file.
type looseRef struct {
	name string
	kind kind
}

// merge combines loose and packed refs in one sorted list. A loose ref hides the packed one of its
// name.
func merge(loose []looseRef, packed []packedRef) (names, links []string) {
	slices.SortFunc(loose, func(a, b looseRef) int { return strings.Compare(a.name, b.name) })
	names = make([]string, 0, len(loose)+len(packed))
	for _, ref := range loose {
		for len(packed) > 0 && packed[0].name < ref.name {
			names = append(names, packed[0].name)
			packed = packed[1:]
		}
		if len(packed) > 0 && packed[0].name == ref.name {
			packed = packed[1:]
		}
		if ref.kind != broken {
			names = append(names, ref.name)
		}
		if ref.kind == symbolic {
			links = append(links, ref.name)
		}
	}
	for _, ref := range packed {
		names = append(names, ref.name)
	}
	return names, links
}
