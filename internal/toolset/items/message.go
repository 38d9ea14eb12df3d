package items

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/storage"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// message explains an error to a model, which has the tools and not the program.
func message(err error) string {
	_, busy := errors.AsType[*lockedstore.BusyError](err)
	missing, inDatabase := errors.AsType[*storage.NoProjectError](err)
	switch {
	case inDatabase:
		return "Not a tic project: " + missing.Error() + ". Use the init_project tool first."
	case errors.Is(err, storage.ErrNoProject):
		return "Not a tic project. Use the init_project tool first."
	case isRule(err):
		return err.Error()
	case busy:
		return "Another process is busy changing the work items. Nothing was changed; try again."
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "The call was canceled. Nothing was changed."
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "The disk is full. Nothing was changed; ask the user to free space."
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "Cannot " + err.Error() + ". Nothing was changed; ask the user to allow reading and writing the .tic directory."
	}
	if failed, ok := errors.AsType[*failure.Error](err); ok {
		return failed.Error()
	}
	// Most of these are expected, and contain the next step: a file that is a link, a database that does
	// not answer, a worktree that is gone.
	return "The call failed: " + err.Error()
}

// isRule reports whether the domain's error contains the problem and the next step.
func isRule(err error) bool {
	_, invalid := errors.AsType[*item.InvalidError](err)
	_, changed := errors.AsType[*storage.ChangedError](err)
	_, broken := errors.AsType[*storage.BrokenError](err)
	_, config := errors.AsType[*storage.ConfigError](err)
	_, elsewhere := errors.AsType[*storage.ChangedElsewhereError](err)
	_, store := errors.AsType[*storage.StoreError](err)
	return nextOfClaim(err) != "" || elsewhere || store || invalid || changed || broken || config || item.IsNotFound(err)
}

// nextStep returns the next step for an error that contains only the problem.
func nextStep(err error) string {
	if step := nextOfClaim(err); step != "" {
		return step
	}
	if failed, ok := errors.AsType[*failure.Error](err); ok {
		return failed.Hint(failure.Words{})
	}
	if item.IsNotFound(err) {
		return "Use list_items or search_items to find its number; a deleted one comes back with `copse item restore`."
	}
	if _, ok := errors.AsType[*storage.BrokenError](err); ok {
		return "Ask the user to correct the file; `copse item doctor` shows what is wrong."
	}
	if invalid, ok := errors.AsType[*item.InvalidError](err); ok && (invalid.Field == "parent" || invalid.Field == "depends_on") {
		return "Use get_item_tree or list_items to choose another item."
	}
	return ""
}
