// Package ghstack reads the stacks of gh-stack: the file "gh-stack" in the git directory of each
// worktree, JSON with schemaVersion 1.
//
// A branch's parent is the previous branch in its stack; the parent of the first one is the trunk.
// Merged branches remain in the file, and are skipped.
package ghstack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/copse-dev/copse/internal/branch/source"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/regular"
	"github.com/copse-dev/copse/internal/rooted"
)

// Reader reads the stacks of all worktrees.
type Reader struct{}

// Name returns the tool's name.
func (Reader) Name() string { return "gh-stack" }

// maxWorktrees is the maximum number of worktrees whose files are read.
const maxWorktrees = 200

// Files returns the file of each worktree, whether it exists or not, and the names of the worktrees.
func (Reader) Files(r source.Repo) []string {
	worktrees := filepath.Join(r.CommonDir(), "worktrees")
	files := []string{filepath.Join(r.CommonDir(), "gh-stack"), source.NamesIn(worktrees)}
	listed, err := regular.ReadDir(worktrees)
	if err != nil { // most repositories have no linked worktrees
		return files
	}
	for _, d := range listed[:min(len(listed), maxWorktrees)] {
		files = append(files, filepath.Join(worktrees, d.Name(), "gh-stack"))
	}
	return files
}

// Read reads the stacks. If files disagree, Read uses that of this worktree. All files together have
// the limits of one record, because an archive can contain any number of them.
func (g Reader) Read(_ context.Context, r source.Repo) (source.Record, error) {
	record := source.Record{Source: g.Name()}
	own := filepath.Join(r.GitDir(), "gh-stack")
	others := slices.DeleteFunc(g.Files(r), func(path string) bool { return path == own })
	left, unread := int64(source.MaxFile), 0
	for _, path := range append([]string{own}, others...) {
		if filepath.Base(path) != "gh-stack" {
			continue
		}
		data, err := regular.ReadInDir(filepath.Dir(path), filepath.Base(path), left)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		_, large := errors.AsType[*regular.TooLargeError](err)
		if large && left < source.MaxFile || len(record.Edges) >= source.MaxEdges {
			unread++
			continue
		}
		left -= int64(len(data))
		var found source.Record
		if err == nil {
			found, err = Parse(data)
		}
		if err != nil {
			record.Notes = append(record.Notes, fmt.Sprintf("the file of %s cannot be read: %v", worktree(path), rooted.WithoutPath(err)))
			continue
		}
		record.Edges = append(record.Edges, found.Edges...)
		record.Trunks = append(record.Trunks, found.Trunks...)
	}
	if unread > 0 {
		record.Notes = append(record.Notes, fmt.Sprintf("the files of %s are not used: copse uses at most %d MiB and %d branches of all together",
			cleantext.Count(unread, "more worktree"), source.MaxFile>>20, source.MaxEdges))
	}
	return record, nil
}

func worktree(path string) string {
	dir := filepath.Dir(path)
	if filepath.Base(filepath.Dir(dir)) == "worktrees" {
		return "worktree " + filepath.Base(dir)
	}
	return "the main worktree"
}

type file struct {
	Version int `json:"schemaVersion"`
	Stacks  []struct {
		Trunk struct {
			Branch string `json:"branch"`
		} `json:"trunk"`
		Branches []struct {
			Branch string `json:"branch"`
			Base   string `json:"base"`
			PR     *struct {
				Number uint32 `json:"number"`
				Merged bool   `json:"merged"`
			} `json:"pullRequest"`
		} `json:"branches"`
	} `json:"stacks"`
}

// Parse reads the content of a file.
func Parse(data []byte) (source.Record, error) {
	var f file
	if err := source.JSON(data, &f); err != nil {
		return source.Record{}, errors.New("it is not the JSON that gh-stack writes")
	}
	if f.Version != 1 {
		return source.Record{}, fmt.Errorf("it has version %d, and copse knows version 1", f.Version)
	}
	var record source.Record
	stacked := map[string]bool{}
	for _, s := range f.Stacks {
		if !source.Valid(s.Trunk.Branch) {
			return source.Record{}, errors.New("a trunk is not a branch")
		}
		parent := s.Trunk.Branch
		for _, b := range s.Branches {
			if !source.Valid(b.Branch) {
				return source.Record{}, errors.New("an entry is not a branch")
			}
			e := source.Edge{Child: b.Branch, Parent: parent, BaseHash: source.Hash(b.Base)}
			stacked[b.Branch] = true
			if b.PR != nil {
				e.PR = b.PR.Number
			}
			record.Edges = append(record.Edges, e)
			if b.PR == nil || !b.PR.Merged {
				parent = b.Branch
			}
		}
	}
	// The trunk of a stack can be a branch of another stack.
	for _, s := range f.Stacks {
		if !stacked[s.Trunk.Branch] {
			record.Trunks = append(record.Trunks, s.Trunk.Branch)
		}
	}
	return record, nil
}
