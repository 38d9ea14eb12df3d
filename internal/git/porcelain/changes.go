package porcelain

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Change is a file that differs between commit, index and worktree.
type Change struct {
	Path string `json:"path"`
	// From is the name that a renamed or copied file had.
	From string `json:"from,omitempty"`
	// Code is the two letters of "git status --short": index, then worktree; "??" is untracked, and
	// a directory then has a slash at its end.
	Code string `json:"code"`
}

// ParseChanges reads the files of the second porcelain format.
func ParseChanges(out []byte) ([]Change, error) {
	var changes []Change
	// How many fields stand before the path.
	before := map[byte]int{'1': 8, '2': 9, 'u': 10, '?': 1}
	rest := records{out}
	for record, ok := rest.next(); ok; record, ok = rest.next() {
		if record == "" || before[record[0]] == 0 {
			continue
		}
		fields := strings.SplitN(record, " ", before[record[0]]+1)
		if len(fields) != before[record[0]]+1 {
			return nil, fmt.Errorf("read status: git printed %q", record)
		}
		c := Change{Path: strings.Clone(fields[len(fields)-1]), Code: "??"}
		if record[0] != '?' {
			c.Code = strings.ReplaceAll(fields[1], ".", " ")
		}
		if record[0] == '2' {
			c.From, _ = rest.next()
		}
		changes = append(changes, c)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.urgency(), b.urgency()) })
	return changes, nil
}

// records are the rest of git's output, each record before a NUL. The output can have 64 MiB, so it
// exists once: callers clone what they keep of a record.
type records struct{ rest []byte }

// next returns the next record, false after the last one.
func (r *records) next() (record string, ok bool) {
	if len(r.rest) == 0 {
		return "", false
	}
	one, rest, _ := bytes.Cut(r.rest, []byte{0})
	r.rest = rest
	return string(one), true
}

// Conflict reports whether git could not merge the file.
func (c Change) Conflict() bool {
	return strings.Contains(c.Code, "U") || c.Code == "AA" || c.Code == "DD"
}

// urgency orders changes: what a list loses when it is cut are the least urgent ones.
func (c Change) urgency() int {
	switch {
	case c.Conflict():
		return 0
	case c.Code == "??":
		return 3
	case len(c.Code) == 2 && c.Code[1] != ' ':
		return 1
	}
	return 2
}

// LineCount is how many lines of a file were added and removed; both are 0 for a
// binary file.
type LineCount struct{ Added, Deleted int }

// ParseNumstat reads what "git diff --numstat -z" prints.
func ParseNumstat(out []byte) map[string]LineCount {
	stat := map[string]LineCount{}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(record, "\t", 3)
		if len(fields) != 3 {
			continue
		}
		if fields[0] == "0" && fields[1] == "0" {
			continue // another time or mode, the same lines
		}
		added, _ := strconv.Atoi(fields[0]) // "-" for a binary file
		deleted, _ := strconv.Atoi(fields[1])
		stat[fields[2]] = LineCount{added, deleted}
	}
	return stat
}
