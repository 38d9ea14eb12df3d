package twig

import "time"

// SetPatience replaces the time that a reader waits for a file that is half written.
func (s *Store) SetPatience(d time.Duration) { s.patience = d }
