// Package changes describes the changes of work items: [NewUpdate] returns the difference between
// two versions of an item, and [PlanUndo] decides whether and how a change can be undone.
package changes

import (
	"crypto/rand"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/claim"
	"github.com/copse-dev/copse/internal/xec/family"
)

// Kind is the kind of a [Change].
type Kind string

// The kinds of changes.
const (
	Created   Kind = "created"
	Updated   Kind = "updated"
	Commented Kind = "commented"
	// Uncommented is the removal of a comment by an undo.
	Uncommented Kind = "uncommented"
	Deleted     Kind = "deleted"
	Restored    Kind = "restored"
	// Stolen is a claim that another agent took away.
	Stolen Kind = "stolen"
	// Elsewhere is a change without history: another program changed the item.
	Elsewhere Kind = "elsewhere"
	// Merged is a choice of a merge: two clones had changed a field, and the later change lost.
	Merged Kind = "merged"
)

// Change is an entry in the history of an item.
type Change struct {
	// ID identifies the change: some letters and digits that are unique for the item. It is "" for
	// a change Elsewhere or Merged.
	ID   string      `json:"id,omitempty"`
	Item item.ID     `json:"item"`
	At   string      `json:"at"` // as Summary.Updated
	By   claim.Agent `json:"by,omitzero"`
	Kind Kind        `json:"kind"`
	// Before and After have the fields that an update changed.
	Before item.Patch `json:"before,omitzero"`
	After  item.Patch `json:"after,omitzero"`
	// Cut names the fields whose values are too long to store.
	Cut     []string      `json:"cut,omitempty"`
	Comment *item.Comment `json:"comment,omitempty"`
	// StolenFrom is the agent that the item was taken from.
	StolenFrom string `json:"stolen_from,omitempty"`
	// Undoes is the ID of the undone change.
	Undoes string `json:"undoes,omitempty"`
}

const (
	// MaxChanges is the number of changes of an item in a history, the latest ones.
	MaxChanges = 100
	// MaxText is the maximum size of a value in a history in bytes, up to which a change can
	// be undone.
	MaxText = 64 << 10
)

// NewChange returns a change of an item by an agent, at a time as Summary.Updated has it.
func NewChange(kind Kind, id item.ID, by claim.Agent, at string) Change {
	by.Session, by.Process = "", family.Process{} // of no use after they ended
	return Change{ID: strings.ToLower(rand.Text()[:changeIDLength]), Item: id, At: at, By: by, Kind: kind}
}

const changeIDLength = 8

// NewUpdate returns the change of an update; false if only the time of the last update differs.
func NewUpdate(before, after *item.Item, by claim.Agent) (Change, bool) {
	c := NewChange(Updated, after.ID, by, after.Updated)
	was, is := patchOf(before), patchOf(after)
	for _, f := range patchFields() {
		if f.same(&was, &is) {
			continue
		}
		if f.size(&was) > MaxText || f.size(&is) > MaxText {
			c.Cut = append(c.Cut, f.name)
			continue
		}
		f.copy(&c.Before, &was)
		f.copy(&c.After, &is)
	}
	return c, len(c.Cut) > 0 || c.After != (item.Patch{})
}

// NewComment returns the change of a new comment. A comment that is too long to store cannot be
// undone.
func NewComment(id item.ID, said item.Comment, by claim.Agent) Change {
	c := NewChange(Commented, id, by, said.Date)
	if len(said.Body) > MaxText {
		c.Cut = []string{"comment"}
	} else {
		c.Comment = &said
	}
	return c
}

// Bounded returns the changes that a history keeps, of all in the order of time.
func Bounded(log []Change) []Change { return log[max(0, len(log)-MaxChanges):] }

// Happened reports whether the latest change in the history of an item was completed: a backend
// that writes the history before the item can be killed in between.
func (c *Change) Happened(it *item.Item) bool {
	if !After(c.At, it.Updated) {
		return true
	}
	switch c.Kind {
	case Updated:
		is := patchOf(it)
		return len(c.changedSince(&is)) == 0
	case Commented:
		return c.Comment != nil && slices.Contains(it.Comments, *c.Comment)
	default:
		return true
	}
}

// After reports whether a time of an item is later than another one. Other programs write
// times in other forms.
func After(a, b string) bool {
	x, errA := time.Parse(time.RFC3339, a)
	y, errB := time.Parse(time.RFC3339, b)
	if errA != nil || errB != nil {
		return a > b
	}
	return x.After(y)
}

// changedSince returns the fields that no longer have the value that the change gave them.
func (c *Change) changedSince(is *item.Patch) []string {
	var changed []string
	for _, f := range patchFields() {
		if _, ok := f.text(&c.After); ok && !f.same(&c.After, is) {
			changed = append(changed, f.name)
		}
	}
	return changed
}

// Chosen returns what merges chose for an item with a history: the fields that have the value of an earlier
// change and not that of the last one; false if there are none. No change records the choice, because
// each clone would record it.
func Chosen(log []Change, it *item.Item) (Change, bool) {
	chosen := Change{Item: it.ID, At: it.Updated, Kind: Merged}
	if n := len(log); n == 0 || After(log[n-1].At, it.Updated) {
		return Change{}, false // the last change may not have reached the item
	}
	is := patchOf(it)
	for _, f := range patchFields()[:scalars] {
		var last *item.Patch
		earlier := false
		for i := range log {
			if _, changed := f.text(&log[i].After); changed {
				last = &log[i].After
				earlier = earlier || f.same(last, &is)
			}
		}
		if earlier && !f.same(last, &is) {
			f.copy(&chosen.Before, last)
			f.copy(&chosen.After, &is)
		}
	}
	return chosen, chosen.After != (item.Patch{})
}

// Value is a field that a change changed, as people read it.
type Value struct {
	Field, Before, After string
}

// Values returns what an update changed, in the order of the fields.
func (c *Change) Values() []Value {
	var list []Value
	for _, f := range patchFields() {
		after, ok := f.text(&c.After)
		if !ok {
			continue
		}
		before, _ := f.text(&c.Before)
		list = append(list, Value{f.name, before, after})
	}
	return list
}
