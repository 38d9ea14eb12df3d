package corpus

import "strings"

// block is documents whose keys are neighbours, with their texts in one piece: it
// never changes. Text number i, a title if i is even and a body if it is odd,
// ends at ends[i] and begins where the one before ends.
type block[T any] struct {
	keys   []int64
	values []T
	text   string
	ends   []int
}

// blockSize is about how many bytes of text a block has: enough for a search not
// to notice where one ends, and little to copy for a change.
const blockSize = 64 << 10

// with returns the blocks that take the place of b when the documents under some
// keys, sorted, change.
func (b *block[T]) with(keys []int64, changes map[int64]*Doc[T]) []*block[T] {
	var docs []piece[T]
	for i, key := range b.keys {
		for len(keys) > 0 && keys[0] < key {
			docs = appendDoc(docs, keys[0], changes[keys[0]])
			keys = keys[1:]
		}
		if len(keys) == 0 || keys[0] != key {
			docs = append(docs, piece[T]{key, b.values[i], b, i})
		}
	}
	for _, key := range keys {
		docs = appendDoc(docs, key, changes[key])
	}
	return join(docs)
}

// piece is document number i of a block.
type piece[T any] struct {
	key   int64
	value T
	block *block[T]
	i     int
}

func (p piece[T]) texts() (title, body string) {
	begin := 0
	if p.i > 0 {
		begin = p.block.ends[2*p.i-1]
	}
	middle, end := p.block.ends[2*p.i], p.block.ends[2*p.i+1]
	return p.block.text[begin:middle], p.block.text[middle:end]
}

func appendDoc[T any](docs []piece[T], key int64, d *Doc[T]) []piece[T] {
	if d == nil {
		return docs
	}
	return append(docs, piece[T]{key, d.value, d.block, 0})
}

// join makes blocks of about equal size of documents.
func join[T any](docs []piece[T]) []*block[T] {
	size := 0
	for _, d := range docs {
		title, body := d.texts()
		size += len(title) + len(body)
	}
	share := size/(size/blockSize+1) + 1
	var blocks []*block[T]
	for len(docs) > 0 {
		n, size := 0, 0
		for n < len(docs) && size < share {
			title, body := docs[n].texts()
			size += len(title) + len(body)
			n++
		}
		blocks = append(blocks, joined(docs[:n], size))
		docs = docs[n:]
	}
	return blocks
}

func joined[T any](docs []piece[T], size int) *block[T] {
	b := &block[T]{keys: make([]int64, len(docs)), values: make([]T, len(docs)), ends: make([]int, 0, 2*len(docs))}
	var text strings.Builder
	text.Grow(size)
	for i, d := range docs {
		b.keys[i], b.values[i] = d.key, d.value
		title, body := d.texts()
		text.WriteString(title)
		b.ends = append(b.ends, text.Len())
		text.WriteString(body)
		b.ends = append(b.ends, text.Len())
	}
	b.text = text.String()
	return b
}

// search appends the documents that have n and are wanted.
func (b *block[T]) search(hits []Hit[T], n needle, wanted func(T) bool) []Hit[T] {
	if n.text == "" {
		for _, value := range b.values {
			if wanted(value) {
				hits = append(hits, Hit[T]{value, true})
			}
		}
		return hits
	}
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
