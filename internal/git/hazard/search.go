package hazard

import (
	"context"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
)

// Search examines all files of git, and the files of the worktree that git reads while it compares
// files. It returns the first hazard that it finds, and nil if there is none or the context ends
// first.
func Search(ctx context.Context, l Layout) error {
	for _, dir := range []string{l.GitDir, l.CommonDir} {
		if err := search(ctx, dir, func(string, fs.DirEntry) bool { return true }); err != nil {
			return err
		}
	}
	if l.Root == "" {
		return nil
	}
	own := filepath.Join(l.Root, ".git")
	inside := string(filepath.Separator) + ".git" + string(filepath.Separator)
	return search(ctx, l.Root, func(path string, e fs.DirEntry) bool {
		return path != own && (slices.Contains(rootFiles, e.Name()) || strings.Contains(path[len(l.Root):], inside))
	})
}

// search examines the files below dir that git reads. It does not follow links to directories.
func search(ctx context.Context, dir string, read func(path string, e fs.DirEntry) bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil || e.IsDir() || e.Type().IsRegular() || !read(path, e):
			return nil //nolint:nilerr // an unreadable directory is skipped
		}
		return look(path, math.MaxInt64)
	})
}
