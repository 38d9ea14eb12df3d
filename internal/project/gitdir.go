package project

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/index"
	"github.com/copse-dev/copse/internal/rooted"
)

// isGits reports whether a name, which has no links, is that of git's own files: of a directory named .git, or of one
// with the form of a git directory. A worktree in such a directory is not git's, and nor is a file that git tracks.
func (p *Project) isGits(ctx context.Context, f *directory, name string) bool {
	if rooted.NamesGit(name) {
		return true
	}
	gits, parts := f.inGit, []string{"."}
	if name != "." {
		parts = append(parts, strings.Split(name, "/")...)
	}
	dir := ""
	for _, part := range parts {
		dir = path.Join(dir, part)
		if f.IsGit(dir) {
			gits = true
		} else if gits {
			_, err := f.Lstat(path.Join(dir, ".git"))
			gits = err != nil
		}
	}
	if !gits {
		return false
	}
	tracked := p.tracked(ctx)
	return len(tracked.Below(name)) == 0 && !tracked.Has(name)
}

// inGit reports whether the directory at an absolute path is in a git directory, and in no worktree there.
func inGit(dir string) (in bool) {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	for ; !in && !has(".git"); dir = filepath.Dir(dir) {
		if in = rooted.NamesGit(filepath.Base(dir)) || rooted.IsGit(has); dir == filepath.Dir(dir) {
			break
		}
	}
	return in
}

// tracked returns the files that git tracks, as far as that is known.
func (p *Project) tracked(ctx context.Context) index.Paths {
	repo, err := p.repository(ctx)
	if err != nil || repo == nil {
		return index.Paths{}
	}
	tracked, err := repo.Tracked(ctx)
	if err != nil {
		return index.Paths{}
	}
	return tracked
}

// areGits reports whether the sorted entries of a directory are those of a git directory.
func areGits(entries []fs.DirEntry) bool {
	return rooted.IsGit(func(name string) bool {
		_, found := slices.BinarySearchFunc(entries, name, func(e fs.DirEntry, name string) int { return cmp.Compare(e.Name(), name) })
		return found
	})
}
