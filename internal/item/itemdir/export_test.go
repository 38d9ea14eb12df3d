package itemdir

import (
	"os"

	"github.com/copse-dev/copse/internal/cachedfile"
)

// FromCache returns how many files of the index come from its cache.
func FromCache(x *Index) int {
	n := 0
	for _, f := range x.files {
		if f.kept {
			n++
		}
	}
	return n
}

// ChangeTimes reports whether the system says when a file was changed last.
func ChangeTimes(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && cachedfile.SignatureOf(info).Changed != 0
}
