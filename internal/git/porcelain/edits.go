package porcelain

import (
	"cmp"
	"errors"
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
	// Changed is the number of tracked files that differ, without those in conflict. A renamed file
	// is one, as in [Status], and two among Files.
	Changed int `json:"changed,omitempty"`
	// Repositories are untracked repositories in the worktree, with a slash at the end. Git knows
	// nothing of their files, and neither does Files.
	Repositories []string `json:"repositories,omitempty"`
	// Conflicted is how many files git could not merge. They are not among Files.
	Conflicted int `json:"conflicted,omitempty"`
	// InConflict is the path of the first of these, "" if it is unknown.
	InConflict string `json:"in_conflict,omitempty"`
	// CRLF says that lines end with CR LF in the worktree and with LF in commits.
	CRLF bool `json:"crlf,omitempty"`
	// Partial means that git could not look everywhere, such as into a directory of another account.
	Partial bool `json:"partial,omitempty"`
}

// Untracked returns the names of the untracked files.
func (e Edits) Untracked() []string {
	var names []string
	for _, f := range e.Files {
		if f.Untracked {
			names = append(names, f.Path)
		}
	}
	return names
}

// unmerged returns the path in the record of a file that git could not merge, "" for a damaged one.
func unmerged(record string) string {
	const before = 9 // fields
	fields := strings.SplitN(record, " ", before+1)
	if len(fields) <= before {
		return ""
	}
	return strings.Clone(fields[before])
}

// ParseEdits reads the second porcelain format. A rename is a deletion and a new file.
func ParseEdits(out []byte) (Edits, error) {
	var deleted, present []Edit
	edits := Edits{}
	all := records{out}
	for record, ok := all.next(); ok; record, ok = all.next() {
		kind, rest, _ := strings.Cut(record, " ")
		switch kind {
		case "1", "2":
			e, copied, err := parseEdit(kind, rest)
			if err != nil {
				return Edits{}, fmt.Errorf("list edited files: git printed %q", record)
			}
			edits.Changed++
			if kind == "2" {
				// The name it had before is a record of its own.
				if from, ok := all.next(); ok && !copied {
					deleted = append(deleted, Edit{Path: from})
				}
			}
			if e.Mode == "" {
				deleted = append(deleted, e)
			} else {
				present = append(present, e)
			}
		case "u":
			edits.Conflicted++
			edits.InConflict = cmp.Or(edits.InConflict, unmerged(rest))
		case "?":
			if strings.HasSuffix(rest, "/") {
				edits.Repositories = append(edits.Repositories, rest)
			} else {
				present = append(present, Edit{Path: strings.Clone(rest), Untracked: true})
			}
		}
	}
	edits.Files = slices.Concat(deleted, present)
	return edits, nil
}

// modeOf returns a mode of git's output without keeping the output.
func modeOf(text string) string {
	for _, known := range []string{ModeFile, ModeExecutable, ModeLink, ModeSubmodule} {
		if text == known {
			return known
		}
	}
	return strings.Clone(text)
}

// parseEdit reads the record of a changed file, and reports whether it is a copy of another.
func parseEdit(kind, rest string) (e Edit, copied bool, err error) {
	// XY, submodule, the modes of HEAD, index and worktree, the objects of HEAD and index, the
	// similarity of a renamed or copied file, path.
	fields := 8
	if kind == "2" {
		fields = 9
	}
	f := strings.SplitN(rest, " ", fields)
	if len(f) != fields {
		return Edit{}, false, errors.New("fields are missing")
	}
	e = Edit{Path: strings.Clone(f[fields-1]), Mode: modeOf(f[4])}
	switch {
	case strings.Trim(e.Mode, "0") == "":
		e.Mode = ""
	case e.Mode == ModeSubmodule:
		e.Commit = strings.Clone(f[6])
	}
	return e, kind == "2" && strings.HasPrefix(f[7], "C"), nil
}
