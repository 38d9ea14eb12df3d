package git

import (
	"errors"
	"io/fs"

	"github.com/copse-dev/copse/internal/git/discovery"
	"github.com/copse-dev/copse/internal/git/hazard"
)

// Writable returns a [*BrokenError] if a write of git to these refs, their logs, the objects, the
// index, or the configuration would leave git's directory through a link. Call it before each
// command of git that writes: an archive can contain such links.
func (r *Repo) Writable(refs ...string) error {
	err := hazard.Writing(r.guard.layout(nil), refs...)
	if err == nil {
		return nil
	}
	redirected, isLink := errors.AsType[*hazard.RedirectedError](err)
	if named, ok := errors.AsType[*fs.PathError](err); ok && isLink {
		return &BrokenError{Path: named.Path, Problem: redirected.Error(), Remedy: "remove the link, or restore git's file or directory there"}
	}
	return discovery.Unreadable(r.at.GitDir, err)
}
