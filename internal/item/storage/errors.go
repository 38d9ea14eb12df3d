package storage

import (
	"errors"
	"fmt"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/changes"
)

// ErrNoProject reports that there is no store of items.
var ErrNoProject = errors.New("not a tic project (no .tic/ directory found)")

// ChangedError reports that an item has changed since the preview.
type ChangedError struct {
	ID item.ID
}

func (e *ChangedError) Error() string {
	return fmt.Sprintf("Work item #%d changed since the preview. Call delete_item again.", e.ID)
}

// ChangedElsewhereError reports that another clone finished, deleted or released an item that
// was just claimed here.
type ChangedElsewhereError struct {
	ID item.ID
}

func (e *ChangedElsewhereError) Error() string {
	return fmt.Sprintf("Work item #%d was finished, deleted, or released in another clone. Read it again", e.ID)
}

// BrokenError reports that an item exists, but is unusable in its stored form.
type BrokenError struct {
	ID     item.ID
	File   string // as in a Warning
	Reason string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("Work item #%d cannot be used: %s %s", e.ID, e.File, e.Reason)
}

// ConfigError reports that the project's configuration is invalid.
type ConfigError struct {
	File   string // as in a Warning
	Reason string // with what to do
}

func (e *ConfigError) Error() string { return e.File + " " + e.Reason }

// IsRefusal reports whether an error says that what was asked for is not possible, and is for
// the user as it is. Any other error is a failure of the backend.
func IsRefusal(err error) bool {
	_, invalid := errors.AsType[*item.InvalidError](err)
	_, changed := errors.AsType[*ChangedError](err)
	_, broken := errors.AsType[*BrokenError](err)
	_, config := errors.AsType[*ConfigError](err)
	_, held := errors.AsType[*HeldError](err)
	_, nothing := errors.AsType[*item.NothingToClaimError](err)
	_, undo := errors.AsType[*changes.UndoError](err)
	_, store := errors.AsType[*StoreError](err)
	return store || invalid || changed || broken || config || held || nothing || undo || item.IsNotFound(err)
}
