// Package ranking orders short texts by their similarity to a query.
//
// [New] creates an [Index] of texts; [Index.Search] returns the best [Hit]s.
// The score is the cosine of the angle between two vectors that have a dimension
// for each token (tokens.go defines tokens), where
//
//	weight = how often the text has the token × idf
//	idf    = ln((1 + texts) / (1 + texts with the token)) + 1
//
// It is from 0 to 1, rounded to four digits: 1 for a query with the same words as
// the text, 0 for one that shares none. Words of the query that no text has lower
// the score. Hits with equal scores are in the order of their texts, so an
// answer depends only on the texts and the query.
package ranking

import (
	"cmp"
	"math"
	"slices"
	"sync"
)

// Index is the texts, ready for searching. It is immutable and safe for concurrent use.
type Index struct {
	texts    int
	ids      map[string]int32 // of tokens
	idf      []float64        // by token
	first    []int32          // of a token's postings; one more at the end
	postings []posting        // by token, then by text
	scores   sync.Pool        // of *[]float64, zeros, one for each text
}

// posting records that a text contains a token.
type posting struct {
	text   int32
	weight float32 // in the vector of the text, whose length is 1
}

// Hit is a text that matches.
type Hit struct {
	Text  int     // its index
	Score float64 // above 0, at most 1, with four digits
}

// Search returns the texts most similar to query, best match first, at most limit.
func (x *Index) Search(query string, limit int) []Hit {
	if limit < 1 {
		return nil
	}
	terms, norm := x.vector(query)
	if len(terms) == 0 {
		return nil
	}
	scores := x.scores.Get().(*[]float64) // the pool has nothing else
	for _, t := range terms {
		for _, p := range x.postings[x.first[t.id]:x.first[t.id+1]] {
			(*scores)[p.text] += t.weight * float64(p.weight)
		}
	}
	hits := best(*scores, norm, limit)
	clear(*scores)
	x.scores.Put(scores)
	return hits
}

// term is a token of a query that occurs in some text.
type term struct {
	id     int32
	weight float64
}

// vector returns the terms of a query, in their order in it, and the length of its vector, unknown
// tokens included.
func (x *Index) vector(query string) (terms []term, norm float64) {
	var order []string
	counts := make(map[string]int)
	for token := range tokens(query) {
		if counts[token]++; counts[token] == 1 {
			order = append(order, token)
		}
	}
	var squares float64
	for _, token := range order {
		id, known := x.ids[token]
		if !known {
			squares += square(float64(counts[token]) * idf(x.texts, 0))
			continue
		}
		weight := float64(counts[token]) * x.idf[id]
		squares += square(weight)
		terms = append(terms, term{id, weight})
	}
	return terms, math.Sqrt(squares)
}

// best returns the first limit hits from scores, divided by norm.
func best(scores []float64, norm float64, limit int) []Hit {
	const fewest = 64 // hits that are sorted at once
	var hits []Hit
	room := 2 * max(fewest, min(limit, len(scores)))
	threshold := 0.0 // a hit must score higher
	for text, score := range scores {
		if score == 0 {
			continue
		}
		score = rounded(score / norm)
		if score <= threshold {
			continue
		}
		hits = append(hits, Hit{text, score})
		if len(hits) == room {
			hits = sorted(hits)[:min(limit, len(hits))]
			threshold = hits[len(hits)-1].Score // of equal ones, those before come first
		}
	}
	hits = sorted(hits)
	return hits[:min(limit, len(hits))]
}

func sorted(hits []Hit) []Hit {
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Text, b.Text))
	})
	return hits
}

func rounded(score float64) float64 { return min(math.Round(score*1e4)/1e4, 1) }

func idf(texts, having int) float64 {
	return math.Log(float64(1+texts)/float64(1+having)) + 1
}

func square(f float64) float64 { return f * f }
