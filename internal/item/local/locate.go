package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folderName is the name of the folder of a store.
const folderName = ".tic"

// Place says where a store is looked for. Paths are absolute.
type Place struct {
	// Dir is the working folder. The store is the one in it or in the next
	// folder above that has one, up to Root.
	Dir string
	// Root is the root of the git worktree that Dir is in; empty outside of git,
	// where only Dir is looked at.
	Root string
	// Main is the root of the main worktree, if Root is that of a linked one.
	// Its store is used where the linked worktree has none of its own.
	Main string
}

// find returns the folder of the store, and whether there is one.
func (p Place) find() (string, bool) {
	for _, dir := range p.folders() {
		folder := filepath.Join(dir, folderName)
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder, true
		}
	}
	return "", false
}

// folders are those that can have a store, in their order.
func (p Place) folders() []string {
	list := []string{p.Dir}
	if p.Root == "" {
		return list
	}
	if up, err := filepath.Rel(p.Dir, p.Root); err == nil {
		// The way up is only dots: "../..". A root that is elsewhere, as behind
		// a symbolic link, is the next folder.
		steps := strings.Split(up, string(filepath.Separator))
		if !slices.ContainsFunc(steps, func(s string) bool { return s != ".." }) {
			for dir := filepath.Dir(p.Dir); dir != p.Root && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
				list = append(list, dir)
			}
		}
	}
	for _, root := range []string{p.Root, p.Main} {
		if root != "" && !slices.Contains(list, root) {
			list = append(list, root)
		}
	}
	return list
}
