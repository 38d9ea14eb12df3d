package item

import (
	"fmt"
	"time"
	"unicode/utf8"
)

// Capabilities say where a [Backend] cannot do what the interface says. The zero Capabilities
// are those of a backend that can do all of it.
type Capabilities struct {
	// Gaps says that the numbers of items have gaps, and need not begin with 1: others use
	// numbers of the same series, as pull requests do.
	Gaps bool
	// Deletion is what the backend can do with a deleted item.
	Deletion Deletion
	// Lag is how long the changes of others can be missing in a Snapshot. A backend's own
	// changes and all claims are in it at once, and Item is always current.
	Lag time.Duration
	// Author is the author of every comment; "" if a comment can have any.
	Author string
	// Limits bound the texts of an item.
	Limits Limits
}

// Deletion is what a backend does with a deleted item.
type Deletion int

const (
	// Trash keeps a deleted item where nobody else sees it. It comes back with the
	// relations that it had.
	Trash Deletion = iota
	// Soft marks the item as deleted: other programs still see it, and can still change
	// it. It comes back as they left it.
	Soft
	// Final destroys it: Restore returns a *UnsupportedError.
	Final
)

// Limits are how many characters the texts of an item can have; 0 is for no limit but those
// that every backend has.
type Limits struct {
	Title, Description, Comment int
}

// UnsupportedError says that a backend cannot do something at all.
type UnsupportedError struct {
	// What says what it cannot do, as a sentence without its point, and what to do instead.
	What string
}

func (e *UnsupportedError) Error() string { return e.What }

// CheckPatch returns an [*InvalidError] for a text of a patch that is too long.
func (l Limits) CheckPatch(p Patch) error {
	for _, f := range []struct {
		name  string
		value *string
		most  int
	}{{"title", p.Title, l.Title}, {"description", p.Description, l.Description}} {
		if f.value != nil {
			if err := checkLength(f.name, *f.value, f.most); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckComment returns an [*InvalidError] for a comment that is too long.
func (l Limits) CheckComment(body string) error { return checkLength("comment", body, l.Comment) }

func checkLength(field, text string, most int) error {
	n := utf8.RuneCountInString(text)
	if most == 0 || n <= most {
		return nil
	}
	return &InvalidError{
		Field:   field,
		Problem: fmt.Sprintf("The %s has %d characters, more than the %d allowed here. Shorten it, or put the rest into a comment", field, n, most),
	}
}
