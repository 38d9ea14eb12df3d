package storage

import (
	"context"
	"fmt"

	"github.com/copse-dev/copse/internal/item"
)

// Store is a [Backend] with the operations for the maintenance of a project.
type Store interface {
	Backend

	// Init makes a project. created is false if it already exists.
	Init(ctx context.Context) (created bool, err error)

	// SetDoneStatuses says which statuses mean done. None restores the default.
	SetDoneStatuses(ctx context.Context, statuses []string) error

	// Links returns the links of the items that have one.
	Links(ctx context.Context) (map[item.ID]item.Link, error)

	// Deleted returns the items in the trash, by number, and what in it cannot be read.
	Deleted(ctx context.Context) ([]Trashed, []item.Warning, error)

	// Purge removes items from the trash for good. Their numbers are not used again. If
	// one of them is not in the trash, nothing is removed.
	Purge(ctx context.Context, ids ...item.ID) error

	// Check returns everything that is wrong with the project and its items.
	Check(ctx context.Context) ([]item.Warning, error)

	// Close releases what the system holds for the store.
	Close() error
}

// Trashed is an item in the trash.
type Trashed struct {
	item.Summary
	At string // when it was deleted; empty if that is not known
}

// StoreError reports that a store cannot be used as a whole: it cannot be reached, or it
// refuses. Nothing was changed unless Problem says so.
type StoreError struct {
	Problem string
	Next    string // what to do, as a sentence
	Err     error  // the cause; can be nil
}

func (e *StoreError) Error() string { return e.Problem + ". " + e.Next }

// Unwrap returns the cause.
func (e *StoreError) Unwrap() error { return e.Err }

// NoProjectError reports that a database does not have the project. It is an [ErrNoProject].
type NoProjectError struct {
	Name string
}

func (e *NoProjectError) Error() string { return fmt.Sprintf("the database has no project %q", e.Name) }

// Is reports whether target is ErrNoProject.
func (e *NoProjectError) Is(target error) bool { return target == ErrNoProject }
