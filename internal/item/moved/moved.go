// Package moved names the store that items were moved to, or are being moved from.
//
// A move copies the items to the new store, and gives it a [Mark] with From. It then gives the old
// store a Mark with To, and removes that of the new one. A store with a Mark accepts no changes, so
// at every moment of the move at most one of the stores does, even if the move is killed.
package moved

import (
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/item/storage"
)

// Mark is the reason why a store accepts no changes. The zero Mark is that of a store that does.
type Mark struct {
	// To is the store that the items were moved to.
	To string
	// From is the store that the items come from, in a move that has not ended.
	From string
}

// Files is the name of the store of files for people.
const Files = "the directory .tic"

const (
	arriving = "arriving from "
	// maxName is the maximum length of the name of a store.
	maxName = 200
)

// Parse returns the mark with that text. Any text is a mark.
func Parse(text string) Mark {
	text = strings.TrimSpace(cleantext.Line(text))
	if from, ok := strings.CutPrefix(text, arriving); ok {
		return Mark{From: cleantext.Cut(from, maxName)}
	}
	if text == "" {
		return Mark{To: "another store"}
	}
	return Mark{To: cleantext.Cut(text, maxName)}
}

// String returns the text of the mark, on one line.
func (m Mark) String() string {
	if m.From != "" {
		return arriving + cleantext.Line(m.From)
	}
	return cleantext.Line(m.To)
}

// Is reports whether both are the same, which is not zero. A mark that was read can be a shortened one.
func (m Mark) Is(other Mark) bool { return other != Mark{} && m == Parse(other.String()) }

// Err returns the error of a change, nil if the store accepts changes.
func (m Mark) Err() error {
	switch {
	case m.From != "":
		return &storage.StoreError{
			Problem: fmt.Sprintf("the items of this project are still being moved here from %q", m.From),
			Next:    "If the move was interrupted, choose the old store again and repeat `copse item move`: it ends the move.",
		}
	case m.To != "":
		return &storage.StoreError{
			Problem: fmt.Sprintf("the items of this project were moved to %q", m.To),
			Next:    fmt.Sprintf("Only the store itself reports this. If you or your team moved them, %s.", m.follow()),
		}
	}
	return nil
}

// follow returns how to choose the store that has the items.
func (m Mark) follow() string {
	if m.To == Files {
		return "unset COPSE_ITEMS, and remove the repository from items.database in your settings"
	}
	return "choose that store with COPSE_ITEMS, or with items.database in your settings"
}

// Warning describes the store to those who read it, "" if it accepts changes.
func (m Mark) Warning() string {
	switch {
	case m.From != "":
		return fmt.Sprintf("accepts no changes yet: the items are still being moved here from %q; if the move was interrupted, repeat `copse item move` in the old store", m.From)
	case m.To != "":
		return fmt.Sprintf("accepts no changes: the items were moved to %q; if you or your team moved them, %s", m.To, m.follow())
	}
	return ""
}
