// Package page cuts lists into pages: a limit, a cursor that is bound to the
// query, the total, and the words that say what is shown.
//
// A list begins with [Limits.Open], which checks a [Request] and gives a
// [Window]. Then
//
//   - a list in memory is cut by [List.Cut]. It continues after the key of the last
//     element shown, so it works while the data changes: an element that is there
//     all the time is shown exactly once, and none is shown twice;
//   - a list from a service continues from Window.After, a position in the service's
//     own terms, and its [Page] gets Window.Cursor of the next one. [Fit] says how
//     many elements go into a byte budget.
//
// A cursor is for one query and opaque to its user. It holds nothing secret and
// nothing that is trusted: anyone who makes one up learns no more than by asking
// for the page in another way.
package page

import "fmt"

// Request is what the user of a list asks for.
type Request struct {
	// Limit is how many elements to show at most; nil leaves it to the list.
	Limit *int
	// Cursor is the Next of the page before; empty asks for the first page.
	Cursor string
}

// Limits are the page sizes of a list.
type Limits struct {
	Default, Max int
}

// LimitError says that a limit is out of range.
type LimitError struct {
	Limit, Max int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("limit %d is out of range; use 1 to %d", e.Limit, e.Max)
}

// Window is the part of a list that a request asks for. It comes from
// Limits.Open.
type Window struct {
	// Limit is how many elements to show at most, at least 1.
	Limit int
	// After is the position that the cursor carries, empty for the first page.
	After string

	query     queryHash
	continued bool
}

// Open checks req. The query is any text that names the list and all that
// selects and orders its elements: the tool and its arguments, without limit and
// cursor. The error is a *LimitError or a *CursorError.
func (l Limits) Open(req Request, query string) (Window, error) {
	w := Window{Limit: l.Default, query: hashQuery(query)}
	if req.Limit != nil {
		if *req.Limit < 1 || *req.Limit > l.Max {
			return Window{}, &LimitError{Limit: *req.Limit, Max: l.Max}
		}
		w.Limit = *req.Limit
	}
	if req.Cursor != "" {
		after, err := decodeCursor(req.Cursor, w.query)
		if err != nil {
			return Window{}, err
		}
		w.After, w.continued = after, true
	}
	return w, nil
}

// Cursor returns the cursor with which a request for the same query goes on at
// position.
func (w Window) Cursor(position string) string { return encodeCursor(w.query, position) }

// Page is what is shown of a list.
type Page[T any] struct {
	// Items is never nil when it comes from this package.
	Items []T
	// Total is how many elements the whole list has; nil is unknown.
	Total *int
	// Next is the cursor of the next page; empty on the last one.
	Next string
}

// Showing says how much is shown: "50 of 312", or without a total "30, more with
// cursor", or "30".
func (p Page[T]) Showing() string {
	switch {
	case p.Total != nil:
		return fmt.Sprintf("%d of %d", len(p.Items), *p.Total)
	case p.Next != "":
		return fmt.Sprintf("%d, more with cursor", len(p.Items))
	}
	return fmt.Sprint(len(p.Items))
}
