package item

import (
	"strings"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item/corpus"
	"github.com/copse-dev/copse/internal/secret"
)

// Hit is an item that a search has found.
type Hit struct {
	*Summary
	// InDescription means that the description has the query, so that there is a
	// Snippet of it.
	InDescription bool
}

// Search returns the items that a filter selects and that have query in their
// title or description, in whatever case, by ID. An empty query finds all.
func (s *Snapshot) Search(c Config, query string, f Filter) []Hit {
	found := s.texts.Search(query, s.selector(c, f))
	hits := make([]Hit, len(found))
	for i, h := range found {
		hits[i] = Hit{Summary: h.Value, InDescription: h.Body && query != ""}
	}
	return hits
}

// A snippet has so many characters, and so many before the match.
const (
	snippetLength = 160
	snippetLead   = 40
)

// Snippet returns the part of a description around the first place that has
// query, as clean text on one line, without known secrets; empty if there is none.
func Snippet(known *secret.Set, description, query string) string {
	folded := corpus.Fold(description)
	at := strings.Index(folded, corpus.Fold(query))
	if at < 0 {
		return ""
	}
	// The folded text has as many characters, but not as many bytes.
	start := utf8.RuneCountInString(folded[:at]) - snippetLead
	lead, from := "", 0
	for range max(start, 0) {
		_, size := utf8.DecodeRuneInString(description[from:])
		from += size
		lead = "…"
	}
	const more = 4 // bytes of a character, or what the cleaning takes away
	to, end := len(description), ""
	if from+more*snippetLength < to {
		to, end = from+more*snippetLength, " …"
	}
	text := known.Between(description, from, to) + end
	return lead + cleantext.Cut(strings.Join(strings.Fields(cleantext.Line(text)), " "), snippetLength)
}
