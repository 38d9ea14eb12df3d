package corpus

import "strings"

// block contains documents with adjacent keys, with their texts in one string. It is immutable.
// Text number i, a title if i is even and a body if it is odd, ends at ends[i] and begins where the
// previous one ends.
type block[T any] struct {
	keys   []int64
	values []T
	text   string
	ends   []int
	has    *frequencies // of the text
}

// blockSize is the approximate size of a block's texts in bytes: large enough that block boundaries
// cost a search little, and small enough to copy for a change.
const blockSize = 64 << 10

// with returns the blocks that replace b when the documents under some sorted keys change.
func (b *block[T]) with(keys []int64, changes map[int64]*Doc[T]) []*block[T] {
	docs := make([]keyed[T], 0, len(b.keys)+len(keys))
	add := func(key int64) {
		if d := changes[key]; d != nil {
			docs = append(docs, keyed[T]{key, *d})
		}
	}
	for i, key := range b.keys {
		for len(keys) > 0 && keys[0] < key {
			add(keys[0])
			keys = keys[1:]
		}
		if len(keys) == 0 || keys[0] != key {
			docs = append(docs, keyed[T]{key, b.doc(i)})
		}
	}
	for _, key := range keys {
		add(key)
	}
	return join(docs)
}

// doc returns document number i.
func (b *block[T]) doc(i int) Doc[T] {
	begin := 0
	if i > 0 {
		begin = b.ends[2*i-1]
	}
	middle, end := b.ends[2*i], b.ends[2*i+1]
	return Doc[T]{b.values[i], b.text[begin:middle], b.text[middle:end]}
}

// keyed is a document with its key.
type keyed[T any] struct {
	key int64
	Doc[T]
}

func (d *keyed[T]) size() int { return len(d.title) + len(d.body) }

// join makes blocks of about equal size of documents.
func join[T any](docs []keyed[T]) []*block[T] {
	total := 0
	for i := range docs {
		total += docs[i].size()
	}
	share := total/(total/blockSize+1) + 1
	var blocks []*block[T]
	for len(docs) > 0 {
		n, size := 0, 0
		for n < len(docs) && size < share {
			size += docs[n].size()
			n++
		}
		blocks = append(blocks, joined(docs[:n], size))
		docs = docs[n:]
	}
	return blocks
}

func joined[T any](docs []keyed[T], size int) *block[T] {
	b := &block[T]{keys: make([]int64, len(docs)), values: make([]T, len(docs)), ends: make([]int, 0, 2*len(docs))}
	var text strings.Builder
	text.Grow(size)
	for i, d := range docs {
		b.keys[i], b.values[i] = d.key, d.value
		for _, part := range []string{d.title, d.body} {
			text.WriteString(part)
			b.ends = append(b.ends, text.Len())
		}
	}
	b.text = text.String()
	b.has = newFrequencies(b.text)
	return b
}

// search appends the documents that have the folded query and are wanted.
func (b *block[T]) search(hits []Hit[T], query string, wanted func(T) bool) []Hit[T] {
	if query == "" {
		for _, value := range b.values {
			if wanted(value) {
				hits = append(hits, Hit[T]{value, true})
			}
		}
		return hits
	}
	n := newNeedle(query, b.has)
	for at, text := 0, 0; ; {
		found := n.index(b.text[at:])
		if found < 0 {
			return hits
		}
		at += found
		for b.ends[text] <= at {
			text++
		}
		if at+len(n.text) > b.ends[text] { // where two texts meet
			at++
			continue
		}
		if doc := text / 2; text%2 == 1 {
			// What the title has, too, is found again here.
			if wanted(b.values[doc]) {
				hits = append(hits, Hit[T]{b.values[doc], true})
			}
		} else if !n.in(b.text[b.ends[text]:b.ends[text+1]]) {
			if wanted(b.values[doc]) {
				hits = append(hits, Hit[T]{b.values[doc], false})
			}
			at = b.ends[text+1]
			continue
		}
		at = b.ends[text]
	}
}
