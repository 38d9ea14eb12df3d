package backlog

import (
	"context"
	"sync"

	"github.com/copse-dev/copse/internal/item"
)

// snippets caches parts of descriptions, so a repeated search, or its next page, reads no file
// again. A changed item has another summary, and thus another key.
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

// Snippet returns the matching part of an item's description, "" if only the title matches, or if
// the item no longer exists.
func (b *Backlog) Snippet(ctx context.Context, hit item.Hit, query string) string {
	if !hit.InDescription {
		return ""
	}
	s, key := &b.snippets, snippetKey{hit.Summary, query}
	s.mu.Lock()
	text, ok := s.kept[key]
	s.mu.Unlock()
	if ok {
		return text
	}
	it, err := b.backend.Item(ctx, hit.ID)
	if err != nil {
		return ""
	}
	text = item.Snippet(it.Description, query)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= maxSnippets {
		s.kept = make(map[snippetKey]string)
	}
	s.kept[key] = text
	return text
}
