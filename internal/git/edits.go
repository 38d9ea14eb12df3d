package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// The modes of an [Edit], as in git's trees.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeSubmodule  = "160000"
)

// Edit is a file in the worktree that differs from the checked-out commit.
type Edit struct {
	Path string `json:"path"`
	// Mode is the mode of the file in the worktree; empty if the file is deleted, and for an
	// untracked file, for which git reports none.
	Mode string `json:"mode,omitempty"`
	// Commit is the commit of a submodule.
	Commit    string `json:"commit,omitempty"`
	Untracked bool   `json:"untracked,omitempty"`
	// LineEnds is the line-ending rule of the file's attributes; see [LineEnds].
	LineEnds LineEnds `json:"line_ends,omitempty"`
}

// LineEnds reports whether git commits the line endings CR LF of a file as LF. Empty means the
// value of [Edits.CRLF].
type LineEnds string

// The rules of attributes.
const (
	Converted LineEnds = "converted"
	AsTheyAre LineEnds = "as they are"
)

// Edits are all files that differ, deleted ones first.
type Edits struct {
	Files []Edit `json:"files,omitempty"`
	// Conflicted is the number of files that git could not merge. They are not among Files.
	Conflicted int `json:"conflicted,omitempty"`
	// CRLF means that lines end with CR LF in the worktree and with LF in commits.
	CRLF bool `json:"crlf,omitempty"`
}

// Edits returns the files in the worktree that differ from the checked-out commit, according to the
// git program, with each untracked file that is not ignored.
func (r *Repo) Edits(ctx context.Context) (Edits, error) {
	return read(r, func() (Edits, error) {
		if r.Bare() {
			return Edits{}, fmt.Errorf("list edited files: %w", ErrBare)
		}
		out, err := r.program.Run(ctx, "status", "--porcelain=v2", "--untracked-files=all", "--no-renames",
			// Git would run in each submodule, with the submodule's own configuration.
			"--ignore-submodules=dirty", "-z")
		if err != nil {
			return Edits{}, fmt.Errorf("list edited files: %w", err)
		}
		edits, err := parseEdits(out)
		if err != nil {
			return Edits{}, err
		}
		cfg, err := r.config(ctx)
		if err != nil {
			return Edits{}, fmt.Errorf("list edited files: %w", err)
		}
		convert, _ := cfg.Value("core.autocrlf")
		edits.CRLF = strings.EqualFold(convert, "true") || strings.EqualFold(convert, "input")
		return edits, nil
	})
}

// parseEdits reads the second porcelain format, without renames.
func parseEdits(out []byte) (Edits, error) {
	var deleted, present []Edit
	edits := Edits{}
	for record := range strings.SplitSeq(string(bytes.TrimSuffix(out, []byte("\x00"))), "\x00") {
		kind, rest, _ := strings.Cut(record, " ")
		switch kind {
		case "1":
			// XY, submodule, the modes of HEAD, index and worktree, the objects of HEAD and
			// index, path.
			const fields = 8
			f := strings.SplitN(rest, " ", fields)
			if len(f) != fields {
				return Edits{}, fmt.Errorf("list edited files: git printed %q", record)
			}
			e := Edit{Path: f[7], Mode: f[4]}
			switch {
			case strings.Trim(e.Mode, "0") == "":
				e.Mode = ""
				deleted = append(deleted, e)
				continue
			case e.Mode == ModeSubmodule:
				e.Commit = f[6]
			}
			present = append(present, e)
		case "u":
			edits.Conflicted++
		case "?":
			if !strings.HasSuffix(rest, "/") { // a repository in the worktree
				present = append(present, Edit{Path: rest, Untracked: true})
			}
		}
	}
	edits.Files = slices.Concat(deleted, present)
	return edits, nil
}
