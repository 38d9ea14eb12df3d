// Package distinct collects values, each once, in the order in which they came.
//
// Adding a value takes the same time however many there are, unlike a search in a slice that grows:
// strangers decide how many names, keys, and labels a repository has. Use a [List] in a loop that adds
// what it finds, and [Without] to compare two lists:
//
//	var names distinct.List[string]
//	for _, c := range checks {
//		names.Add(c.Name)
//	}
//	missing := distinct.Without(required, names.Values())
package distinct

// List is values, each once. The zero value is empty.
type List[T comparable] struct {
	values []T
	seen   map[T]struct{}
}

// Of returns a list of values.
func Of[T comparable](values ...T) *List[T] {
	l := &List[T]{}
	for _, v := range values {
		l.Add(v)
	}
	return l
}

// Add adds a value and reports whether the list did not have it.
func (l *List[T]) Add(v T) bool {
	if l.Has(v) {
		return false
	}
	if l.seen == nil {
		l.seen = map[T]struct{}{}
	}
	l.seen[v] = struct{}{}
	l.values = append(l.values, v)
	return true
}

// Has reports whether the list has a value.
func (l *List[T]) Has(v T) bool {
	_, ok := l.seen[v]
	return ok
}

// Values returns the values, nil if there are none.
func (l *List[T]) Values() []T { return l.values }

// Len returns the number of values.
func (l *List[T]) Len() int { return len(l.values) }

// Without returns the values that others lack, in their order, and each as often as it comes.
func Without[T comparable](values, others []T) []T {
	known := Of(others...)
	var left []T
	for _, v := range values {
		if !known.Has(v) {
			left = append(left, v)
		}
	}
	return left
}
