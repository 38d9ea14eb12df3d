package cachedfile

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Group is the set of files on which a result depends, to detect whether any of them has changed. A
// missing file counts as one. It is for one goroutine until it is complete, and immutable
// afterward.
type Group struct {
	files      map[string]member
	incomplete bool // later changes could go undetected
}

type member struct {
	missing   bool
	signature Signature
}

// Add adds a file, which must be read afterward; the error is that of stat. A file that is not
// regular always counts as changed.
func (g *Group) Add(path string) (fs.FileInfo, error) {
	if g.files == nil {
		g.files = map[string]member{}
	}
	at := time.Now()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.files[path] = member{missing: true}
	case err != nil || !info.Mode().IsRegular():
		g.incomplete = true
	default:
		m := member{signature: SignatureOf(info)}
		g.files[path] = m
		g.incomplete = g.incomplete || !m.signature.Settled(at)
	}
	return info, err
}

// MarkIncomplete records that the result depends on more than the files of the group, so
// Same reports false from now on.
func (g *Group) MarkIncomplete() { g.incomplete = true }

// Same reports whether all files are known to be unchanged, at the cost of one stat each.
func (g *Group) Same() bool {
	if g == nil || g.incomplete {
		return false
	}
	for path, before := range g.files {
		info, err := os.Stat(path)
		if before.missing != errors.Is(err, fs.ErrNotExist) || !before.missing && (err != nil || SignatureOf(info) != before.signature) {
			return false
		}
	}
	return true
}
