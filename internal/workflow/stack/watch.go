package stack

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/watch"
)

// Watch calls changed whenever what read returns is different, until ctx ends. It reads again
// when something happens in git's directories, in those of the state, or in one of also. Git
// touches its directories for many reasons; only another result counts.
func (b *Branches) Watch(ctx context.Context, read func() string, changed func(), also ...string) error {
	repo, err := b.session.Repo(ctx)
	if err != nil {
		return err
	}
	paths := watch.Paths{Dirs: slices.Clone(also)}
	for _, root := range slices.Compact([]string{repo.Root(), repo.SharedRoot()}) {
		if root != "" {
			// The root, too: .twig may not be there yet.
			paths.Dirs = append(paths.Dirs, root, filepath.Dir(twig.Path(root)))
		}
	}
	for _, w := range repo.Watches() {
		if w.Recursive {
			paths.Trees = append(paths.Trees, w.Path)
		} else {
			paths.Dirs = append(paths.Dirs, w.Path)
		}
	}
	var last string
	return watch.Run(ctx, paths, func() { last = read() }, func() {
		if now := read(); now != last {
			last = now
			changed()
		}
	})
}
