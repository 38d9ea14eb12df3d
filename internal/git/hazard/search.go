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
	var patterns effort
	for _, dir := range append([]string{l.GitDir, l.CommonDir}, borrowed(filepath.Join(l.CommonDir, "objects"), 0)...) {
		if err := search(ctx, dir, func(string, fs.DirEntry) error { return nil }, everything); err != nil {
			return err
		}
	}
	files := slices.Clone(l.Files)
	for _, name := range []string{"info/exclude", "info/attributes"} {
		files = append(files, filepath.Join(l.CommonDir, filepath.FromSlash(name)))
	}
	for _, path := range append(files, filepath.Join(l.GitDir, "info", "sparse-checkout")) {
		if err := patterns.add(path); err != nil {
			return err
		}
	}
	if l.Root == "" {
		return nil
	}
	own := filepath.Join(l.Root, ".git")
	inside := string(filepath.Separator) + ".git" + string(filepath.Separator)
	return search(ctx, l.Root, func(path string, e fs.DirEntry) error {
		if e.Name() == ".gitignore" || e.Name() == ".gitattributes" {
			return patterns.add(path)
		}
		return nil
	}, func(path string, e fs.DirEntry) bool {
		return path != own && (slices.Contains(rootFiles, e.Name()) || strings.Contains(path[len(l.Root):], inside))
	})
}

func everything(string, fs.DirEntry) bool { return true }

// search examines the files below dir: regular ones with a function, and others that git reads. It
// does not follow links to directories.
func search(ctx context.Context, dir string, regular func(string, fs.DirEntry) error, read func(string, fs.DirEntry) bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil || e.IsDir():
			return nil //nolint:nilerr // an unreadable directory is skipped
		case e.Type().IsRegular():
			return regular(path, e)
		case !read(path, e):
			return nil
		}
		return look(path, math.MaxInt64)
	})
}
