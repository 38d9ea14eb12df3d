package backlog

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/secret"
)

// snippets caches parts of descriptions, so a repeated search, or its next page, reads no
// description again. A changed item has another summary, and thus another key.
type snippets struct {
	mu   sync.Mutex
	kept map[snippetKey]string
}

type snippetKey struct {
	of    *item.Summary
	query string
}

// maxSnippets is how many snippets are kept before all of them are dropped.
const maxSnippets = 1000

func (s *snippets) get(key snippetKey) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.kept[key]
	return text, ok
}

func (s *snippets) put(key snippetKey, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= maxSnippets {
		s.kept = make(map[snippetKey]string)
	}
	s.kept[key] = text
}

// Snippets are the matching parts of the descriptions that a search found. They are for one call.
type Snippets struct {
	of    *Backlog
	query string
	hits  []item.Hit
}

// Snippets returns the matching parts of what a search for query found, which is by ID.
func (b *Backlog) Snippets(query string, hits []item.Hit) Snippets {
	return Snippets{of: b, query: query, hits: hits}
}

// Of returns the matching part of an item's description, "" if only the title matches, or if the
// item no longer exists.
func (s Snippets) Of(ctx context.Context, hit item.Hit) string {
	if !hit.InDescription {
		return ""
	}
	kept, key := &s.of.snippets, snippetKey{hit.Summary, s.query}
	if text, ok := kept.get(key); ok {
		return text
	}
	if many, ok := s.of.backend.(describer); ok {
		return s.ofMany(ctx, many, hit)
	}
	it, err := s.of.backend.Item(ctx, hit.ID)
	if err != nil {
		return ""
	}
	text := item.Snippet(secret.Of(ctx), it.Description, s.query)
	kept.put(key, text)
	return text
}

// describer is a backend that reads the descriptions of many items at the cost of one.
type describer interface {
	// Descriptions returns the descriptions of those of the items that exist.
	Descriptions(ctx context.Context, ids []item.ID) (map[item.ID]string, error)
}

// atOnce is how many descriptions are read at once: about as many as a page shows.
const atOnce = 32

// ofMany is Of for a hit and the hits after it, which the caller is likely to ask for next.
func (s Snippets) ofMany(ctx context.Context, from describer, hit item.Hit) string {
	at, _ := slices.BinarySearchFunc(s.hits, hit.ID, func(h item.Hit, id item.ID) int { return cmp.Compare(h.ID, id) })
	wanted := make(map[item.ID]*item.Summary, atOnce)
	var ids []item.ID
	for _, h := range s.hits[at:min(at+atOnce, len(s.hits))] {
		if h.InDescription {
			wanted[h.ID], ids = h.Summary, append(ids, h.ID)
		}
	}
	found, err := from.Descriptions(ctx, ids)
	if err != nil {
		return ""
	}
	for id, description := range found {
		s.of.snippets.put(snippetKey{wanted[id], s.query}, item.Snippet(secret.Of(ctx), description, s.query))
	}
	text, _ := s.of.snippets.get(snippetKey{hit.Summary, s.query})
	return text
}
