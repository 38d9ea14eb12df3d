// Package samedir tells whether a path still leads to the directory to which it led before.
//
// Use [At] when a program begins to rely on a directory, and [Directory.Now] before and after each use. Now costs one
// call of the system while nothing has changed. On Linux, it also tells a directory from a later one with the same
// number, if the file system knows when a directory was created.
package samedir

import "path/filepath"

// Directory is one to which a path led. The zero value is for no path, and stays the same.
type Directory struct {
	Path string
	real string    // without links; "" if there was nothing
	was  *identity // nil if the system did not tell
}

// At returns the directory to which a path leads.
func At(path string) Directory {
	d := Directory{Path: path}
	if path == "" {
		return d
	}
	d.real, _ = filepath.EvalSymlinks(path)
	if id, err := identify(path); err == nil {
		d.was = &id
	}
	return d
}

// State is what became of a directory.
type State uint8

const (
	// Same also means that nothing can be read there.
	Same State = iota
	// Replaced means that another directory is in the same place.
	Replaced
	// Elsewhere means that the path leads to another place.
	Elsewhere
)

// Now returns what became of the directory.
func (d Directory) Now() State {
	if d.real == "" {
		return Same
	}
	if now, err := identify(d.Path); err == nil && d.was != nil && now.same(*d.was) {
		return Same // and in the same place, which takes more calls to find out
	}
	switch real, err := filepath.EvalSymlinks(d.Path); {
	case err != nil:
		return Same
	case real != d.real:
		return Elsewhere
	case d.was == nil:
		return Same
	}
	return Replaced
}
