package porcelain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// The modes of entries in git's trees that [Edit] has.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeSubmodule  = "160000"
)

// Edit is a file in the worktree that differs from the commit that is checked out.
type Edit struct {
	Path string `json:"path"`
	// Mode is the mode of the file in the worktree. It is empty for a deleted file, and for an
	// untracked file, whose mode git does not report.
	Mode string `json:"mode,omitempty"`
	// Commit is the commit of a submodule.
	Commit    string `json:"commit,omitempty"`
	Untracked bool   `json:"untracked,omitempty"`
	// LineEnds is what attributes say about the file's line ends; see [LineEnds].
	LineEnds LineEnds `json:"line_ends,omitempty"`
}

// LineEnds reports whether git commits the line ends CR LF of a file as LF. Empty means as
// [Edits.CRLF] says.
type LineEnds string

// What attributes say.
const (
	Converted LineEnds = "converted"
	AsTheyAre LineEnds = "as they are"
)

// Edits are all files that differ, deleted ones first.
type Edits struct {
	Files []Edit `json:"files,omitempty"`
	// Conflicted is how many files git could not merge. They are not among Files.
	Conflicted int `json:"conflicted,omitempty"`
	// CRLF says that lines end with CR LF in the worktree and with LF in commits.
	CRLF bool `json:"crlf,omitempty"`
}

// ParseEdits reads the second porcelain format, without renames.
func ParseEdits(out []byte) (Edits, error) {
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
