package items

import (
	"sync"

	"github.com/copse-dev/copse/internal/item"
)

// snippets keeps what was cut from descriptions, so that a search that is repeated, or
// turned a page of, reads no file again. An item that changes has another summary, and so
// another key. It is safe for concurrent use.
type snippets struct {
	mu   sync.Mutex
	kept map[snippetKey]string
}

type snippetKey struct {
	of    *item.Summary
	query string
}

// mostSnippets are kept; then it begins anew.
const mostSnippets = 1000

// get returns what is kept, else what cut makes, which is kept unless it says no.
func (s *snippets) get(key snippetKey, cut func() (string, bool)) string {
	s.mu.Lock()
	text, ok := s.kept[key]
	s.mu.Unlock()
	if ok {
		return text
	}
	if text, ok = cut(); !ok {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) >= mostSnippets {
		s.kept = make(map[snippetKey]string)
	}
	s.kept[key] = text
	return text
}
