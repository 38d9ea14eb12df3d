package git

import (
	"os"
	"path/filepath"
	"time"
)

// Fetched returns the time of the last fetch into the repository from any of its worktrees, zero if
// there is no record of one.
func (r *Repo) Fetched() time.Time {
	dirs := []string{r.at.CommonDir}
	if linked, _, err := r.entries(); err == nil {
		for _, e := range linked {
			dirs = append(dirs, e.gitDir)
		}
	}
	var last time.Time
	for _, dir := range dirs {
		// Each fetch writes the file, even if it brings nothing.
		info, err := os.Lstat(filepath.Join(dir, "FETCH_HEAD"))
		if err == nil && info.Mode().IsRegular() && info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last
}
