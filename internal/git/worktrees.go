package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/xec"
)

// Worktree is one of a repository's worktrees.
type Worktree struct {
	// Name is the last part of Path.
	Name string `json:"name"`
	Path string `json:"path"`
	// Branch is the short name of the branch; empty if Detached, or if git
	// cannot tell.
	Branch string `json:"branch,omitempty"`
	// Head is the hash of the commit; empty if there is none yet, or Bare.
	Head string `json:"head,omitempty"`
	// Detached says that no branch is checked out; Bare, that this is the main
	// repository and has no files.
	Detached bool `json:"detached,omitempty"`
	Bare     bool `json:"bare,omitempty"`
	// Locked says that git does not prune it; Prunable, that it would, mostly
	// as the directory is gone, or that the .git there does not lead back to this
	// repository, which then may not speak for it.
	Locked   bool `json:"locked,omitempty"`
	Prunable bool `json:"prunable,omitempty"`
}

// Worktrees returns all worktrees as git lists them: the main one, or the bare
// repository, first.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	return read(r, func() ([]Worktree, error) {
		const usageError = 129
		separator := "\x00"
		out, err := r.program.Run(ctx, "worktree", "list", "--porcelain", "-z")
		if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == usageError {
			separator = "\n" // before git 2.36
			out, err = r.program.Run(ctx, "worktree", "list", "--porcelain")
		}
		if err != nil {
			return nil, fmt.Errorf("list worktrees: %w", err)
		}
		list := parseWorktrees(out, separator)
		if len(list) > 0 && !list[0].Bare && r.mainRoot != "" {
			// Git does not look up core.worktree, which submodules have.
			list[0].setPath(r.mainRoot)
		}
		for i := range list {
			if w := &list[i]; i > 0 && !w.Prunable && !r.owns(w.Path) {
				w.Prunable = true
			}
		}
		return list, nil
	})
}

// owns reports whether the .git of dir leads to this repository.
func (r *Repo) owns(dir string) bool {
	found, err := probe(dir)
	if err != nil || found.gitDir == "" {
		return false
	}
	common, err := commonDir(found.gitDir)
	return err == nil && common == r.commonDir
}

// parseWorktrees reads the attributes of worktrees, one a line, with an empty
// line after each worktree.
func parseWorktrees(out []byte, separator string) []Worktree {
	var list []Worktree
	for line := range bytes.SplitSeq(out, []byte(separator)) {
		name, value, _ := strings.Cut(string(line), " ")
		if name == "worktree" {
			list = append(list, Worktree{})
		}
		if len(list) == 0 {
			continue
		}
		w := &list[len(list)-1]
		switch name {
		case "worktree":
			w.setPath(filepath.FromSlash(value))
		case "HEAD":
			if strings.Trim(value, "0") != "" {
				w.Head = value
			}
		case "branch":
			w.Branch = strings.TrimPrefix(value, refstore.BranchPrefix)
		case "detached":
			w.Detached = true
		case "bare":
			w.Bare = true
		case "locked":
			w.Locked = true
		case "prunable":
			w.Prunable = true
		}
	}
	return list
}

func (w *Worktree) setPath(path string) {
	w.Path, w.Name = path, filepath.Base(path)
}
