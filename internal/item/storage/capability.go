package storage

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/copse-dev/copse/internal/item"
)

// Capabilities state where a [Backend] deviates from the interface. The zero Capabilities are those
// of a backend that supports all of it.
type Capabilities struct {
	// Gaps means that the numbers of items have gaps, and may not begin with 1: other things, such
	// as pull requests, use numbers of the same series.
	Gaps bool
	// Deletion is the backend's treatment of a deleted item.
	Deletion Deletion
	// Lag is how long others' changes can be missing in a Snapshot. It has a backend's own changes
	// and all claims immediately, and Item is always current.
	Lag time.Duration
	// Author is the author of every comment; "" if a comment can have any.
	Author string
	// Limits limit the texts of an item.
	Limits Limits
}

// Deletion is a backend's treatment of a deleted item.
type Deletion int

const (
	// Trash keeps a deleted item where nobody else sees it. Restore brings it back with its
	// relations.
	Trash Deletion = iota
	// Soft marks the item as deleted: other programs still see it, and can change it. Restore
	// brings it back in its current state.
	Soft
	// Final destroys it: Restore returns an *UnsupportedError.
	Final
)

// Limits are the maximum numbers of characters in the texts of an item; 0 sets no limit beyond
// those of every backend.
type Limits struct {
	Title, Description, Comment int
}

// UnsupportedError reports that a backend does not support an operation.
type UnsupportedError struct {
	// What describes the missing operation, as a sentence without its period, and the alternative.
	What string
}

func (e *UnsupportedError) Error() string { return e.What }

// CheckPatch returns an [*item.InvalidError] for a text of a patch that is too long.
func (l Limits) CheckPatch(p item.Patch) error {
	for _, f := range []struct {
		name    string
		value   *string
		maximum int
	}{{"title", p.Title, l.Title}, {"description", p.Description, l.Description}} {
		if f.value != nil {
			if err := checkLength(f.name, *f.value, f.maximum); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckComment returns an [*item.InvalidError] for a comment that is too long.
func (l Limits) CheckComment(body string) error { return checkLength("comment", body, l.Comment) }

func checkLength(field, text string, maximum int) error {
	n := utf8.RuneCountInString(text)
	if maximum == 0 || n <= maximum {
		return nil
	}
	return &item.InvalidError{
		Field:   field,
		Problem: fmt.Sprintf("The %s has %d characters, more than the %d allowed here. Shorten it, or put the rest into a comment", field, n, maximum),
	}
}
