package edit

import "github.com/copse-dev/copse/internal/lockedstore"

// On makes changes on another disk.
func On(f *File, disk lockedstore.Disk) { f.store.On(disk) }
