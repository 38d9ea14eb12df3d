package twig

import (
	"io/fs"
	"time"
)

// SetPatience replaces the time that a reader waits for a file that is half written.
func (s *Store) SetPatience(d time.Duration) { s.patience = d }

// Stat returns the data that tells whether the state file of the worktree at root has changed.
func Stat(root string) (fs.FileInfo, error) { return open(root).directory.Stat(Name) }
