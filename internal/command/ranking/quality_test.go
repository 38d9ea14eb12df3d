package ranking_test

import (
	"bufio"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/command/ranking"
)

// corpus is a registry and the queries that people put to it.
type corpus struct {
	names   []string // "c1 c2 c3"
	texts   []string // with the description
	queries []labelled
}

type labelled struct {
	text  string
	right []string // names
}

func load(t *testing.T, name string) corpus {
	t.Helper()
	var c corpus
	for _, line := range lines(t, name+".txt") {
		id, description, ok := strings.Cut(line, ": ")
		if !ok || len(strings.Fields(id)) != 3 {
			t.Fatalf("%s: %q is no command", name, line)
		}
		c.names = append(c.names, id)
		c.texts = append(c.texts, id+" "+description)
	}
	for _, line := range lines(t, name+".queries.txt") {
		query, right, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("%s: %q is no query", name, line)
		}
		q := labelled{text: query, right: strings.Split(right, "; ")}
		for _, r := range q.right {
			if !slices.Contains(c.names, r) {
				t.Fatalf("%s: there is no command %q", name, r)
			}
		}
		c.queries = append(c.queries, q)
	}
	return c
}

func lines(t *testing.T, name string) []string {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []string
	for s := bufio.NewScanner(file); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// quality is how good rankings are: the mean of 1/rank of the first right answer,
// and how often one is among the first three.
type quality struct{ rank, recall float64 }

// measure ranks all queries of a corpus.
func (c corpus) measure(ranking func(query string) []int) quality {
	var q quality
	for _, l := range c.queries {
		for i, text := range ranking(l.text) {
			if slices.Contains(l.right, c.names[text]) {
				q.rank += 1 / float64(i+1)
				if i < 3 {
					q.recall++
				}
				break
			}
		}
	}
	n := float64(len(c.queries))
	return quality{q.rank / n, q.recall / n}
}

func ours(texts []string) func(string) []int {
	index := ranking.New(texts)
	return func(query string) []int {
		var order []int
		for _, h := range index.Search(query, len(texts)) {
			order = append(order, h.Text)
		}
		return order
	}
}

// bm25 returns the plain algorithm with k1 1.2 and b 0.75, over the words that split gives.
func bm25(texts []string, split func(string) []string) func(string) []int {
	const k1, b = 1.2, 0.75
	counts := make([]map[string]float64, len(texts))
	df := map[string]float64{}
	lengths, total := make([]float64, len(texts)), 0.0
	for i, text := range texts {
		counts[i] = map[string]float64{}
		for _, w := range split(text) {
			if counts[i][w]++; counts[i][w] == 1 {
				df[w]++
			}
			lengths[i]++
		}
		total += lengths[i]
	}
	n := float64(len(texts))
	return func(query string) []int {
		scores := make([]float64, len(texts))
		for _, w := range split(query) {
			idf := math.Log((n-df[w]+0.5)/(df[w]+0.5) + 1)
			for i := range texts {
				tf := counts[i][w]
				scores[i] += idf * tf * (k1 + 1) / (tf + k1*(1-b+b*lengths[i]/(total/n)))
			}
		}
		var order []int
		for i := range texts {
			if scores[i] > 0 {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(scores[y], scores[x]) })
		return order
	}
}

// Searches find what people mean at least as well as plain BM25 does, with the same
// tokens, and so better than BM25 over words between spaces, as climpt has them.
func TestQuality(t *testing.T) {
	t.Parallel()
	queries := 0
	for _, name := range []string{"library", "small", "operations"} {
		c := load(t, name)
		queries += len(c.queries)
		rank := ours(c.texts)
		got := c.measure(rank)
		same := c.measure(bm25(c.texts, ranking.Tokens))
		plain := c.measure(bm25(c.texts, func(s string) []string { return strings.Fields(strings.ToLower(s)) }))
		t.Logf("%s, %d commands, %d queries: reciprocal rank %.4f, recall at 3 %.4f; BM25 %.4f, %.4f; BM25 over words between spaces %.4f, %.4f",
			name, len(c.texts), len(c.queries), got.rank, got.recall, same.rank, same.recall, plain.rank, plain.recall)
		for _, other := range []quality{same, plain} {
			if got.rank < other.rank || got.recall < other.recall {
				t.Errorf("%s: %.4f is worse than BM25, %.4f", name, got, other)
			}
		}
		for _, q := range c.queries {
			var first []string
			for _, i := range rank(q.text) {
				first = append(first, c.names[i])
			}
			if first = first[:min(3, len(first))]; len(first) == 0 || !slices.Contains(q.right, first[0]) {
				t.Logf("%q finds %q, and %q should be first", q.text, first, q.right)
			}
		}
	}
	if queries < 60 {
		t.Errorf("there are only %d queries", queries)
	}
}
