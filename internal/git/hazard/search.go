package hazard

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/git/gitlink"
)

// Search examines all files of git, and the files of the worktree that git reads while it compares
// files, and those of the repositories in it. It returns the first hazard that it finds, and nil if there is none or the context ends
// first. Too many patterns, a [*ContentError] with which git can still finish, are its error only if there is nothing else.
func Search(ctx context.Context, l Layout) error {
	var patterns effort
	var slow error
	add := func(path string) error {
		err := patterns.add(path)
		if _, ok := errors.AsType[*ContentError](err); ok {
			slow = cmp.Or(slow, err)
			return nil
		}
		return err
	}
	searched := map[string]bool{"": true}
	if err := repository(ctx, l.GitDir, l.CommonDir, searched); err != nil {
		return err
	}
	files := slices.Clone(l.Files)
	for _, name := range []string{"info/exclude", "info/attributes"} {
		files = append(files, filepath.Join(l.CommonDir, filepath.FromSlash(name)))
	}
	for _, path := range append(files, filepath.Join(l.GitDir, "info", "sparse-checkout")) {
		if err := add(path); err != nil {
			return err
		}
	}
	if l.Root == "" {
		return slow
	}
	own := filepath.Join(l.Root, ".git")
	inside := string(filepath.Separator) + ".git" + string(filepath.Separator)
	return cmp.Or(search(ctx, l.Root, func(path string, e fs.DirEntry) error {
		switch {
		case path == own:
		case e.Name() == ".git":
			return nested(ctx, filepath.Dir(path), searched)
		case e.Type().IsRegular() && (e.Name() == ".gitignore" || e.Name() == ".gitattributes"):
			return add(path)
		}
		return nil
	}, func(path string, e fs.DirEntry) bool {
		return path != own && (slices.Contains(rootFiles, e.Name()) || strings.Contains(path[len(l.Root):], inside))
	}), slow)
}

// nested examines the files of the repository to which the .git in a directory leads. If git can follow that
// and copse cannot, it is a hazard itself.
func nested(ctx context.Context, dir string, searched map[string]bool) error {
	gitDir, err := gitlink.GitDir(dir)
	if err != nil {
		return err
	}
	if searched[gitDir] {
		return nil
	}
	common, err := gitlink.CommonDir(gitDir)
	if err := special(err); err != nil {
		return err
	}
	if err != nil {
		common = gitDir
	}
	return repository(ctx, gitDir, common, searched)
}

// repository examines the directories of git, and those from which they borrow objects, unless they are
// searched.
func repository(ctx context.Context, gitDir, common string, searched map[string]bool) error {
	others, _ := lenders(filepath.Join(common, "objects")) // git reports a list that it cannot use
	for _, dir := range append([]string{gitDir, common}, others...) {
		if searched[dir] {
			continue
		}
		searched[dir] = true
		if err := search(ctx, dir, func(string, fs.DirEntry) error { return nil }, everything); err != nil {
			return err
		}
	}
	return nil
}

func everything(string, fs.DirEntry) bool { return true }

// search visits all that is below dir, and examines the files that are not regular and that git reads. It
// does not follow links to directories.
func search(ctx context.Context, dir string, visit func(string, fs.DirEntry) error, read func(string, fs.DirEntry) bool) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return fs.SkipAll
		}
		if err != nil {
			return nil //nolint:nilerr // an unreadable directory is skipped
		}
		if err := visit(path, e); err != nil || e.IsDir() || e.Type().IsRegular() || !read(path, e) {
			return err
		}
		return look(path, math.MaxInt64)
	})
}
