package ranking

import "math"

// New returns the index of texts.
func New(texts []string) *Index {
	b := builder{
		ids:   make(map[string]int32),
		words: make(map[string][]int32),
	}
	for i, text := range texts {
		b.add(int32(i), text)
	}
	return b.index(len(texts))
}

// builder counts the tokens of texts.
type builder struct {
	ids    map[string]int32
	words  map[string][]int32 // the tokens of earlier words
	tally  []int32            // by token, of the current text
	counts []count            // by text
}

// count is how often a text has a token.
type count struct{ token, text, times int32 }

func (b *builder) add(text int32, content string) {
	begin := len(b.counts)
	for word := range words(content) {
		for _, id := range b.tokensOf(word) {
			if b.tally[id]++; b.tally[id] == 1 {
				b.counts = append(b.counts, count{token: id, text: text})
			}
		}
	}
	for i := range b.counts[begin:] {
		c := &b.counts[begin+i]
		c.times, b.tally[c.token] = b.tally[c.token], 0
	}
}

// tokensOf returns the numbers of a word's tokens.
func (b *builder) tokensOf(word string) []int32 {
	const longest = 32 // of a word that is likely to occur again
	if ids, ok := b.words[word]; ok {
		return ids
	}
	var ids []int32
	for token := range tokensOf(word) {
		id, known := b.ids[token]
		if !known {
			id = int32(len(b.ids))
			b.ids[token] = id
			b.tally = append(b.tally, 0)
		}
		ids = append(ids, id)
	}
	if len(word) <= longest {
		b.words[word] = ids
	}
	return ids
}

// index sorts the counts by token and turns them into weights.
func (b *builder) index(texts int) *Index {
	x := &Index{
		texts:    texts,
		ids:      b.ids,
		idf:      make([]float64, len(b.ids)),
		first:    make([]int32, len(b.ids)+1),
		postings: make([]posting, len(b.counts)),
	}
	x.scores.New = func() any {
		scores := make([]float64, texts)
		return &scores
	}
	for _, c := range b.counts {
		x.first[c.token+1]++
	}
	for id := range x.idf {
		x.idf[id] = idf(texts, int(x.first[id+1]))
		x.first[id+1] += x.first[id]
	}
	norms := make([]float64, texts)
	for _, c := range b.counts {
		norms[c.text] += square(float64(c.times) * x.idf[c.token])
	}
	next := append([]int32(nil), x.first...)
	for _, c := range b.counts {
		weight := float64(c.times) * x.idf[c.token] / math.Sqrt(norms[c.text])
		x.postings[next[c.token]] = posting{c.text, float32(weight)}
		next[c.token]++
	}
	return x
}
