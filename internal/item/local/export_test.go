package local

import (
	"github.com/copse-dev/copse/internal/item/itemdir"
	"github.com/copse-dev/copse/internal/lockedstore"
)

// SetSpace chooses what the files of all items of a store that has not been used yet can take.
func SetSpace(s *Store, space itemdir.Space) { s.space = space }

// SetWatching chooses whether a store that has not been used yet may watch its directory.
func SetWatching(s *Store, watching bool) { s.watching = watching }

// On makes the changes of the directory that a store has found on another disk.
func On(s *Store, disk lockedstore.Disk) { s.directory.Locked.On(disk) }
