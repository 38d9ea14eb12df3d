// Package corpus finds a text in the titles and bodies of many documents, case-insensitively.
//
// Use [NewDoc] for each document, [Corpus.With] to add, change, and drop them, and [Corpus.Search].
// A search reads every text, because it also finds parts of words. It is fast because the texts are
// folded in advance and adjacent in memory, in the order of their keys, in blocks. A change copies
// one block. A Corpus is immutable and therefore safe for concurrent use; the zero Corpus has no
// documents.
package corpus

import (
	"iter"
	"maps"
	"slices"

	"github.com/copse-dev/copse/internal/spread"
)

// Doc is a document to add.
type Doc[T any] struct {
	value       T
	title, body string // folded
}

// NewDoc returns a document for value. It can share memory with the texts; a Corpus does not.
func NewDoc[T any](value T, title, body string) *Doc[T] {
	return &Doc[T]{value: value, title: Fold(title), body: Fold(body)}
}

// Folded returns a document whose texts were folded before, by [Doc.Texts]. It can share
// memory with the texts, as that of [NewDoc] does.
func Folded[T any](value T, title, body string) *Doc[T] {
	return &Doc[T]{value: value, title: title, body: body}
}

// Texts returns the folded title and body.
func (d Doc[T]) Texts() (title, body string) { return d.title, d.body }

// Value returns the value of the document.
func (d Doc[T]) Value() T { return d.value }

// Corpus is documents by their keys.
type Corpus[T any] struct{ blocks []*block[T] }

// With returns the corpus with changes: under each key, a document that replaces the existing one;
// nil removes it. Its cost depends only on the blocks that change.
func (c Corpus[T]) With(changes map[int64]*Doc[T]) Corpus[T] {
	keys := slices.Sorted(maps.Keys(changes))
	var changed Corpus[T]
	for i, b := range c.blocks {
		here := len(keys) // how many of the keys are for this block
		if i < len(c.blocks)-1 {
			here, _ = slices.BinarySearch(keys, c.blocks[i+1].keys[0])
		}
		if here == 0 {
			changed.blocks = append(changed.blocks, b)
			continue
		}
		changed.blocks = append(changed.blocks, b.with(keys[:here], changes)...)
		keys = keys[here:]
	}
	if len(keys) > 0 { // there was no block
		changed.blocks = new(block[T]).with(keys, changes)
	}
	return changed
}

// All returns the documents in the order of their keys.
func (c Corpus[T]) All() iter.Seq[Doc[T]] {
	return func(yield func(Doc[T]) bool) {
		for _, b := range c.blocks {
			for i := range b.keys {
				if !yield(b.doc(i)) {
					return
				}
			}
		}
	}
}

// Hit is a document that was found.
type Hit[T any] struct {
	Value T
	// Body means that the body has the text; otherwise, the title has.
	Body bool
}

// Search returns the wanted documents that have query in their title or body, by key. An empty
// query matches every text. Search may call wanted from several goroutines at a time.
func (c Corpus[T]) Search(query string, wanted func(T) bool) []Hit[T] {
	folded := Fold(query)
	const worthAnother = 8 // blocks, to make another goroutine worth it
	return spread.Collect(c.blocks, worthAnother, func(part []*block[T]) []Hit[T] {
		var hits []Hit[T]
		for _, b := range part {
			hits = b.search(hits, folded, wanted)
		}
		return hits
	})
}
