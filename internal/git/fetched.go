package git

import (
	"os"
	"path/filepath"
	"time"
)

// Fetched returns the time of the last fetch into the repository from any of its worktrees, zero if
// there is no record of one.
func (r *Repo) Fetched() time.Time {
	linked, _ := r.checkouts.GitDirs() // without them, the main worktree's is the last that is known
	var last time.Time
	for _, dir := range append(linked, r.at.CommonDir) {
		// Each fetch writes the file, even if it brings nothing.
		info, err := os.Lstat(filepath.Join(dir, "FETCH_HEAD"))
		if err == nil && info.Mode().IsRegular() && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}
