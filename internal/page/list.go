package page

import (
	"cmp"
	"encoding/json"
	"slices"
	"sort"
	"strings"
)

// DefaultBudget is the default size of one page's elements in bytes. It leaves the rest of 10 KB
// for the text around them.
const DefaultBudget = 9 << 10

// List describes how to page through a list in memory.
type List[T any] struct {
	// Key returns the key of an element. It must be unique in the list, and constant while the
	// element counts as the same. It is a part of the cursor.
	Key func(T) string
	// Compare orders keys like the list, and must accept any text. Nil is strings.Compare.
	Compare func(a, b string) int
	// Size returns the displayed size of an element in bytes. Nil means that pages have no budget.
	Size func(T) int
	// Budget is the maximum size of a page in bytes; 0 is DefaultBudget.
	Budget int
}

// Cut returns the page of w. The elements are the whole list, ordered by key. A page has at least
// one element unless there is none left, even if that one exceeds the budget.
func (l List[T]) Cut(w Window, elements []T) Page[T] {
	compare := l.Compare
	if compare == nil {
		compare = strings.Compare
	}
	rest := elements
	if w.continued {
		rest = elements[sort.Search(len(elements), func(i int) bool {
			return compare(l.Key(elements[i]), w.After) > 0
		}):]
	}
	n := min(w.Limit, len(rest))
	if l.Size != nil {
		n = Fit(rest[:n], l.Size, cmp.Or(l.Budget, DefaultBudget))
	}
	p := Page[T]{Items: append([]T{}, rest[:n]...), Total: new(len(elements))}
	if n < len(rest) {
		p.Next = w.Cursor(l.Key(rest[n-1]))
	}
	return p
}

// Fit returns how many of the first items take at most budget bytes, counting one more for each as
// its separator. It is at least 1 unless there are no items, so a list always makes progress.
func Fit[T any](items []T, size func(T) int, budget int) int {
	for i, item := range items {
		budget -= size(item) + 1
		if budget < 0 {
			return max(i, 1)
		}
	}
	return len(items)
}

// Share returns the maximum size of each of several parts so that together they have no more than
// all. Parts that need less leave the others more.
func Share(sizes []int, all int) int {
	sorted := slices.Sorted(slices.Values(sizes))
	for i, size := range sorted {
		each := max(all, 0) / (len(sorted) - i)
		if size > each {
			return each
		}
		all -= size
	}
	return max(all, 0) + slices.Max(append(sorted, 0))
}

// Size returns the size of v in JSON in bytes, for lists that are shown as JSON.
func Size[T any](v T) int {
	data, err := json.Marshal(v)
	if err != nil { // a value that cannot be encoded is not shown either
		return 0
	}
	return len(data)
}

// Numeric compares decimal numbers without sign and leading zeros, for lists
// whose keys are such numbers.
func Numeric(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
