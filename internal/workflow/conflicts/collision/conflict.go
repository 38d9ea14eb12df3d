package collision

import (
	"fmt"
	"slices"

	"github.com/copse-dev/copse/internal/git/trial"
)

// Conflict is a pair of branches that cannot be merged without a person.
type Conflict struct {
	// Branches are the two; one of the trunk comes last. A worktree without a branch has
	// the name of its directory and "(detached HEAD)".
	Branches []string `json:"branches"`
	Files    []string `json:"files"`
	// MoreFiles is the number of files that [Conflict.Brief] omits.
	MoreFiles int `json:"more_files,omitempty"`
	// Kinds describes the conflicts of files that are not modified in both.
	Kinds map[string]string `json:"kinds,omitempty"`
	// Holders are the worktrees where the branches are checked out.
	Holders []Holder `json:"holders,omitempty"`
	// Above are the branches that contain one of Branches and inherit the conflict, in some of the files, by
	// the name of that one.
	Above map[string][]string `json:"above,omitempty"`
}

// Name returns the name of one of Branches, with the number of branches that inherit the conflict.
func (c Conflict) Name(branch string) string {
	if n := len(c.Above[branch]); n > 0 {
		return fmt.Sprintf("%s (and %d above it)", branch, n)
	}
	return branch
}

// With returns the branch with which another one conflicts, false if it neither is one of Branches nor
// inherits the conflict.
func (c Conflict) With(branch string) (other string, ok bool) {
	for i, name := range c.Branches {
		if name == branch || slices.Contains(c.Above[name], branch) {
			return c.Branches[1-i], true
		}
	}
	return "", false
}

// Holder is a worktree that has one of the branches.
type Holder struct {
	Branch   string `json:"branch"`
	Worktree string `json:"worktree"`
	// Uncommitted is the number of uncommitted changes there, as "git status" lists them.
	Uncommitted int      `json:"uncommitted,omitempty"`
	Clients     []string `json:"clients,omitempty"`

	// Current means that it is the worktree of the session.
	Current bool `json:"-"`
}

// maxFiles is the number of named files of a brief conflict.
const maxFiles = 30

// Brief returns the conflict with at most 30 named files.
func (c Conflict) Brief() Conflict {
	if len(c.Files) <= maxFiles {
		return c
	}
	c.Files, c.MoreFiles = c.Files[:maxFiles:maxFiles], c.MoreFiles+len(c.Files)-maxFiles
	named := make(map[string]string)
	for _, file := range c.Files {
		if kind := c.Kinds[file]; kind != "" {
			named[file] = kind
		}
	}
	c.Kinds = named
	return c
}

// Side is a branch, or a worktree, of a conflict.
type Side struct {
	Name string
	// Root is the root of the worktree, "" for none; the rest is about the worktree.
	Root    string
	Changes int
	Current bool
	Clients []string
}

// Describe returns the conflict of two sides in files.
func Describe(a, b Side, files []trial.File) Conflict {
	c := Conflict{Branches: []string{a.Name, b.Name}, Files: []string{}}
	for _, f := range files {
		c.Files = append(c.Files, f.Path)
		if f.Kind == trial.Modified {
			continue
		}
		if c.Kinds == nil {
			c.Kinds = make(map[string]string)
		}
		switch f.Kind {
		case trial.DeletedA:
			c.Kinds[f.Path] = "deleted in " + a.Name
		case trial.DeletedB:
			c.Kinds[f.Path] = "deleted in " + b.Name
		default:
			c.Kinds[f.Path] = string(f.Kind)
		}
	}
	for _, s := range []Side{a, b} {
		if s.Root != "" {
			c.Holders = append(c.Holders, Holder{
				Branch: s.Name, Worktree: s.Root, Uncommitted: s.Changes, Clients: s.Clients, Current: s.Current,
			})
		}
	}
	return c
}
