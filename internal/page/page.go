// Package page cuts lists into pages, with a limit, a cursor that is bound to the
// query, the total, and a description of the displayed part.
//
// A list begins with [Limits.Open], which checks a [Request] and returns a
// [Window]. Then
//
//   - [List.Cut] cuts a list in memory. It continues after the key of the last
//     displayed element, so it works while the data changes: an element that stays in
//     the list appears exactly once, and none appears twice;
//   - a list from a service continues from Window.After, a position in the service's
//     own terms, and its [Page] gets Window.Cursor of the next one. [Fit] returns the
//     number of elements that fit a byte budget.
//
// A cursor is for one query and opaque to its user. It contains nothing secret and
// nothing that is trusted: an invented cursor reveals no more than another request
// for the page.
package page

import "fmt"

// Request is a user's request for a part of a list.
type Request struct {
	// Limit is the maximum number of elements; nil leaves it to the list.
	Limit *int
	// Cursor is the Next of the previous page; empty requests the first page.
	Cursor string
}

// Limits are the page sizes of a list.
type Limits struct {
	Default, Max int
}

// LimitError reports that a limit is out of range.
type LimitError struct {
	Limit, Max int
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("limit %d is out of range; use 1 to %d", e.Limit, e.Max)
}

// Window is the requested part of a list. Limits.Open returns it.
type Window struct {
	// Limit is the maximum number of elements, at least 1.
	Limit int
	// After is the position in the cursor, empty for the first page.
	After string

	query     queryHash
	continued bool
}

// Open checks req. The query is any text that identifies the list and everything that selects and
// orders its elements: the tool and its arguments, without limit and cursor. The error is a
// *LimitError or a *CursorError.
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

// Cursor returns the cursor with which a request for the same query continues at position.
func (w Window) Cursor(position string) string { return encodeCursor(w.query, position) }

// Page is a part of a list.
type Page[T any] struct {
	// Items is never nil if it comes from this package.
	Items []T
	// Total is the number of elements of the whole list; nil if unknown.
	Total *int
	// Next is the cursor of the next page; empty on the last one.
	Next string
}

// Showing describes the page: "50 of 312", or without a total "30, more with cursor", or "30".
func (p Page[T]) Showing() string {
	switch {
	case p.Total != nil:
		return fmt.Sprintf("%d of %d", len(p.Items), *p.Total)
	case p.Next != "":
		return fmt.Sprintf("%d, more with cursor", len(p.Items))
	}
	return fmt.Sprint(len(p.Items))
}
