package projectcontext

import (
	"path"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/project"
)

// withoutHidden returns the files without the hidden directories in which git ignores everything,
// such as .worktrees, .twig, and caches of tools. A list that is cut, and so may lack their files,
// stays as it is.
func (f Files) withoutHidden() Files {
	usual, cut := f.Usual()
	if cut {
		return f
	}
	filled := make(map[string]bool)
	for _, e := range usual {
		filled[path.Dir(e.Path)] = true
	}
	before := len(f.Entries)
	f.Entries = slices.DeleteFunc(slices.Clone(f.Entries), func(e project.Entry) bool {
		return e.Type == project.Directory && strings.HasPrefix(e.Path, ".") && !strings.Contains(e.Path, "/") && !filled[e.Path]
	})
	f.Total -= before - len(f.Entries)
	return f
}
