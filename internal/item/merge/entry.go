package merge

import (
	"github.com/copse-dev/copse/internal/item"
	"github.com/copse-dev/copse/internal/item/merge/match"
)

// entry is an item of any of the trees, and what becomes of it.
type entry struct {
	*match.Entry
	state     state
	id        item.ID   // in the result
	parent    match.Key // in the result
	dependsOn []match.Key
	lost      lost
}

// state is where an item is.
type state int

const (
	absent state = iota
	live
	trashed
)

func (e *entry) name() string {
	directory := ItemsDir
	if e.state == trashed {
		directory = TrashDir
	}
	return directory + "/" + e.id.String() + match.Extension
}
