// Package porcelain reads what "git status --porcelain=v2 -z", "git diff --numstat -z", and "git log
// -z --name-status" print.
//
// [ParseStatus] counts, [ParseChanges] lists files for a reader, and [ParseEdits] lists them for
// those that need the content of each. [ParseLog] lists commits.
package porcelain

import (
	"bytes"
	"fmt"
	"strings"
)

// Status is how a worktree differs from its commit, and the branch from its
// upstream.
type Status struct {
	// Upstream is the short name of the branch's upstream ("origin/main");
	// empty if it has none.
	Upstream string `json:"upstream,omitempty"`
	// UpstreamGone says that Upstream is configured but does not exist. Ahead
	// and Behind are unknown then, as they are on an unborn branch.
	UpstreamGone bool `json:"upstream_gone,omitempty"`
	// Ahead and Behind are commits that only the branch or only its upstream
	// has.
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
	// Staged and Modified are files that differ between commit and index, and
	// between index and worktree; one file can be both. A renamed file is one.
	Staged   int `json:"staged"`
	Modified int `json:"modified"`
	// Untracked are files and directories that git neither tracks nor ignores.
	Untracked int `json:"untracked"`
	// Conflicted are files with merge conflicts, which are counted here alone.
	Conflicted int `json:"conflicted"`
	// Partial means that git could not look everywhere, so there can be more.
	Partial bool `json:"partial,omitempty"`
}

// ParseStatus reads the second porcelain format. Records end with a NUL.
func ParseStatus(out []byte) (Status, error) {
	var s Status
	var branch branchLines
	records := strings.Split(string(bytes.TrimSuffix(out, []byte("\x00"))), "\x00")
	for i := 0; i < len(records); i++ {
		record := records[i]
		kind, rest, _ := strings.Cut(record, " ")
		switch kind {
		case "#":
			if err := branch.read(rest, &s); err != nil {
				return Status{}, fmt.Errorf("read status: git printed %q: %w", record, err)
			}
		case "1", "2":
			if len(rest) < 2 {
				return Status{}, fmt.Errorf("read status: git printed %q", record)
			}
			if rest[0] != '.' {
				s.Staged++
			}
			if rest[1] != '.' {
				s.Modified++
			}
			if kind == "2" {
				i++ // the name it had before
			}
		case "u":
			s.Conflicted++
		case "?":
			s.Untracked++
		}
	}
	s.UpstreamGone = s.Upstream != "" && !branch.compared && !branch.unborn
	return s, nil
}

// branchLines are what the lines about the branch say besides what Status has.
type branchLines struct{ compared, unborn bool }

// read takes in one line.
func (b *branchLines) read(line string, s *Status) error {
	if name, ok := strings.CutPrefix(line, "branch.upstream "); ok {
		s.Upstream = name
	}
	if line == "branch.oid (initial)" {
		b.unborn = true
	}
	counts, ok := strings.CutPrefix(line, "branch.ab ")
	if !ok {
		return nil
	}
	b.compared = true
	_, err := fmt.Sscanf(counts, "+%d -%d", &s.Ahead, &s.Behind)
	return err
}
