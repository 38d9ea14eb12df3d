package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/git/index"
)

// leftOut returns the files that the sparse checkout leaves out, none if git does not say.
func (p *Project) leftOut(ctx context.Context) index.Paths {
	repo, err := p.repository(ctx)
	if err != nil || repo == nil {
		return index.Paths{}
	}
	paths, err := repo.LeftOut(ctx)
	if err != nil {
		return index.Paths{}
	}
	return paths
}

// missing completes the error about a name that does not exist: the file can be in git all the same.
func (p *Project) missing(ctx context.Context, name string, err error) error {
	if missing, ok := errors.AsType[*NotFoundError](err); ok {
		missing.Sparse = p.leftOut(ctx).HasBelow(name)
	}
	return err
}

// maxAbsent is the number of names in a warning about what a sparse checkout leaves out.
const maxAbsent = 5

// absent counts and describes the files below a directory with these entries that are only in git.
func absent(leftOut index.Paths, dir string, entries []fs.DirEntry) (files int, warning string) {
	last, shown := "", []string(nil)
	for _, path := range leftOut.Below(dir) {
		name, _, nested := strings.Cut(strings.TrimPrefix(path, dir+"/"), "/")
		if nested {
			name += "/"
		} else if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
			continue // another program has written it
		}
		files++
		if name != last && len(shown) <= maxAbsent {
			shown = append(shown, foreign.Spell(name))
		}
		last = name
	}
	if len(shown) > maxAbsent {
		shown[maxAbsent] = "…"
	}
	return files, fmt.Sprintf("the sparse checkout of this worktree leaves out %s here (%s); `git sparse-checkout add DIRECTORY` writes them", cleantext.Count(files, "tracked file"), strings.Join(shown, ", "))
}
