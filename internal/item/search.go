package item

import (
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/cleantext"
)

// Hit is an item that a search has found.
type Hit struct {
	*Summary
	// InDescription says that the description has the query, so that there is a
	// Snippet of it.
	InDescription bool
}

// Search returns the items that a filter selects and that have query in their
// title or description, in whatever case, by ID. An empty query finds all.
func (s *Snapshot) Search(c Config, query string, f Filter) []Hit {
	selects := s.selector(c, f)
	needle := newNeedle(fold(query))
	return collect(s.entries, func(e *Entry) (Hit, bool) {
		if !selects(&e.Summary) {
			return Hit{}, false
		}
		inDescription := needle.in(e.description)
		return Hit{Summary: &e.Summary, InDescription: inDescription && query != ""}, inDescription || needle.in(e.title)
	})
}

// collect returns what pick makes of the entries that it takes, in their order.
// Many are looked at in parallel.
func collect[T any](entries []*Entry, pick func(*Entry) (T, bool)) []T {
	parts := make([][]T, max(1, min(runtime.GOMAXPROCS(0), len(entries)/worthAnother)))
	var group sync.WaitGroup
	for i := range parts {
		part := entries[i*len(entries)/len(parts) : (i+1)*len(entries)/len(parts)]
		look := func() {
			for _, e := range part {
				if picked, ok := pick(e); ok {
					parts[i] = append(parts[i], picked)
				}
			}
		}
		if i == len(parts)-1 {
			look() // no need to leave this goroutine for the last one
		} else {
			group.Go(look)
		}
	}
	group.Wait()
	if len(parts) == 1 {
		return parts[0]
	}
	return slices.Concat(parts...)
}

// worthAnother is how many items it takes to make another goroutine worth it.
const worthAnother = 1000

// needle is a text to look for. The search goes from one occurrence of its
// rarest byte to the next, which in prose is several times faster than going by
// the first byte, as strings.Contains does.
type needle struct {
	text string
	rare int // offset of the rarest byte
}

func newNeedle(text string) needle {
	n := needle{text: text}
	for i := range len(text) {
		if rarity(text[i]) > rarity(text[n.rare]) {
			n.rare = i
		}
	}
	return n
}

// rarity is larger for bytes that are rarer in folded prose.
func rarity(b byte) int {
	const common = " etaoinsrhldcumfpgwybvkxjqz"
	switch i := strings.IndexByte(common, b); {
	case i >= 0:
		return i
	case b >= utf8.RuneSelf: // rare in one language, in every character of another
		return len(common) / 2
	default:
		return len(common)
	}
}

func (n needle) in(s string) bool {
	if n.text == "" {
		return true
	}
	for at := n.rare; at < len(s); at++ {
		next := strings.IndexByte(s[at:], n.text[n.rare])
		if next < 0 {
			return false
		}
		at += next
		if strings.HasPrefix(s[at-n.rare:], n.text) {
			return true
		}
	}
	return false
}

// A snippet has so many characters, and so many before the match.
const (
	snippetLength = 160
	snippetLead   = 40
)

// Snippet returns the part of a description around the first place that has
// query, as clean text on one line; empty if there is none.
func Snippet(description, query string) string {
	folded := fold(description)
	at := strings.Index(folded, fold(query))
	if at < 0 {
		return ""
	}
	// The folded text has as many characters, but not as many bytes.
	start := utf8.RuneCountInString(folded[:at]) - snippetLead
	lead := ""
	for range max(start, 0) {
		_, size := utf8.DecodeRuneInString(description)
		description = description[size:]
		lead = "…"
	}
	const more = 4 // bytes of a character, or what the cleaning takes away
	if len(description) > more*snippetLength {
		description = description[:more*snippetLength] + " …"
	}
	return lead + cleantext.Cut(strings.Join(strings.Fields(cleantext.Line(description)), " "), snippetLength)
}
