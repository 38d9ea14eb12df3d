package local

// SetWatching chooses whether a store that has not been used yet may watch its
// folder.
func SetWatching(s *Store, watching bool) { s.watching = watching }
