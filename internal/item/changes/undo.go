package changes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item"
)

// Undoing is what undoes a change. One of its parts is set.
type Undoing struct {
	// Change is the undone change.
	Change Change
	// Patch puts fields back.
	Patch item.Patch
	// Comment is the comment to remove.
	Comment *item.Comment
	// Delete moves an item to the trash again that nothing refers to, Restore brings it back.
	Delete, Restore bool
}

// UndoError says why a change is not undone. Nothing was changed.
type UndoError struct {
	ID     item.ID
	Change string // "" if none was named
	Reason string
}

func (e *UndoError) Error() string {
	if e.Change == "" {
		return fmt.Sprintf("Nothing to undo for work item #%d: %s", e.ID, e.Reason)
	}
	return fmt.Sprintf("Change %s of work item #%d cannot be undone: %s", e.Change, e.ID, e.Reason)
}

// maxShown is the number of displayed characters of the name of a change.
const maxShown = 80

// PlanUndo returns the actions that undo a change in the history of an item, or its latest change
// that is not undone if change is "". it is the current item, and deleted means that it is in the
// trash. Later changes are not lost: fields that the change did not touch stay, and the error is an
// [*UndoError] if a field that it touched has another value now.
func PlanUndo(it *item.Item, deleted bool, log []Change, change string) (Undoing, error) {
	refuse := func(format string, args ...any) (Undoing, error) {
		return Undoing{}, &UndoError{ID: it.ID, Change: cleantext.Cut(change, maxShown), Reason: fmt.Sprintf(format, args...)}
	}
	undone := map[string]bool{}
	for _, c := range slices.Backward(log) {
		if c.Undoes != "" && !undone[c.ID] {
			undone[c.Undoes] = true
		}
	}
	at := -1
	for i, c := range log {
		if change != "" && c.ID == change || change == "" && c.undoable() && c.Undoes == "" && !undone[c.ID] {
			at = i
		}
	}
	switch {
	case at < 0 && change == "":
		return refuse("the history of this project has no change left to undo")
	case at < 0:
		return refuse("the history has no such change; `copse item log %d` lists the changes", it.ID)
	}
	c := log[at]
	change = c.ID
	later := log[at+1:]
	switch {
	case !c.undoable():
		return refuse("it was %q", c.Kind)
	case undone[c.ID]:
		return refuse("change %s already undid it", undoOf(log, c.ID))
	case deleted && c.Kind != Deleted:
		return refuse("the item is deleted; restore it first")
	case len(c.Cut) > 0:
		return refuse("the history does not keep values of more than %d bytes (%s)", MaxText, strings.Join(c.Cut, ", "))
	}
	u := Undoing{Change: c}
	switch c.Kind {
	case Updated:
		is := patchOf(it)
		if changed := c.changedSince(&is); len(changed) > 0 {
			return refuse("%s", laterChange(changed, later))
		}
		u.Patch = c.Before
	case Commented:
		if c.Comment == nil || !slices.Contains(it.Comments, *c.Comment) {
			return refuse("the item no longer has the comment")
		}
		u.Comment = c.Comment
	case Deleted:
		if !deleted {
			return refuse("the item is not deleted")
		}
		u.Restore = true
	default: // Created, Restored
		if i := slices.IndexFunc(later, func(c Change) bool { return c.Kind != Stolen && c.Undoes == "" && !undone[c.ID] }); i >= 0 {
			return refuse("the item has been %s since, by %s at %s; delete it if nobody needs it", later[i].Kind, later[i].By, later[i].At)
		}
		u.Delete = true
	}
	return u, nil
}

// undoable reports whether there is something to undo.
func (c *Change) undoable() bool {
	switch c.Kind {
	case Created, Updated, Commented, Deleted, Restored:
		return c.ID != ""
	}
	return false
}

// undoOf returns the latest change that undid one.
func undoOf(log []Change, id string) string {
	for _, c := range slices.Backward(log) {
		if c.Undoes == id {
			return c.ID
		}
	}
	return ""
}

// laterChange says which fields have other values now, and who changed the first of them.
func laterChange(fields []string, later []Change) string {
	text := strings.Join(fields, ", ") + " changed since"
	for _, c := range slices.Backward(later) {
		if slices.ContainsFunc(c.Values(), func(v Value) bool { return v.Field == fields[0] }) {
			return text + fmt.Sprintf(", by %s at %s; undo change %s first", c.By, c.At, c.ID)
		}
	}
	return text + ", by another program; update the item instead"
}
