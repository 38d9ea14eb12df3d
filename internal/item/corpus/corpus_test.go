package corpus_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/item/corpus"
)

type text struct{ title, body string }

// Whatever is taken in, changed and dropped: a search finds what strings.Contains
// does in each of the texts, and nothing where two of them meet.
func TestSearchAsContains(t *testing.T) {
	t.Parallel()
	letters := rapid.StringOf(rapid.SampledFrom([]rune("aab EÉé\nİ")))
	texts := rapid.Custom(func(t *rapid.T) text {
		title, body := letters.Draw(t, "title"), letters.Draw(t, "body")
		// So long that blocks are divided, as 64 KB are a block.
		return text{title, body + strings.Repeat("~", rapid.SampledFrom([]int{0, 0, 10, 30_000, 100_000}).Draw(t, "length")) + body}
	})
	rapid.Check(t, func(t *rapid.T) {
		model := map[int64]text{}
		var c corpus.Corpus[int64]
		var before []func()
		for range rapid.IntRange(1, 5).Draw(t, "rounds") {
			changes := map[int64]*corpus.Doc[int64]{}
			for range rapid.IntRange(0, 10).Draw(t, "changes") {
				key := rapid.Int64Range(-2, 20).Draw(t, "key")
				if rapid.Bool().Draw(t, "drop") {
					delete(model, key)
					changes[key] = nil
					continue
				}
				model[key] = texts.Draw(t, "text")
				changes[key] = corpus.NewDoc(key, model[key].title, model[key].body)
			}
			c = c.With(changes)
			query := letters.Draw(t, "query")
			check(t, c, model, query)
			then, texts := c, maps.Clone(model)
			before = append(before, func() { check(t, then, texts, query) })
		}
		for _, again := range before { // what was found is found, whatever came after
			again()
		}
	})
}

func check(t *rapid.T, c corpus.Corpus[int64], model map[int64]text, query string) {
	t.Helper()
	want := []string{}
	for _, key := range slices.Sorted(maps.Keys(model)) {
		body := strings.Contains(strings.ToLower(model[key].body), strings.ToLower(query))
		if body || strings.Contains(strings.ToLower(model[key].title), strings.ToLower(query)) {
			want = append(want, fmt.Sprint(key, body))
		}
	}
	got := []string{}
	for _, hit := range c.Search(query, func(int64) bool { return true }) {
		got = append(got, fmt.Sprint(hit.Value, hit.Body))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("%q is found in %v; it is in %v", query, got, want)
	}
	for _, hit := range c.Search(query, func(key int64) bool { return key%2 == 0 }) {
		if hit.Value%2 != 0 {
			t.Fatalf("%d is found, which is not wanted", hit.Value)
		}
	}
}
