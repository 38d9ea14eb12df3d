package git

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Status describes how a worktree differs from its commit, and the branch from its upstream.
type Status struct {
	// Upstream is the short name of the branch's upstream ("origin/main");
	// empty if it has none.
	Upstream string `json:"upstream,omitempty"`
	// UpstreamGone means that Upstream is configured but does not exist. Ahead and Behind are then
	// unknown, as on an unborn branch.
	UpstreamGone bool `json:"upstream_gone,omitempty"`
	// Ahead and Behind count the commits that only the branch or only its upstream has.
	Ahead  int `json:"ahead"`
	Behind int `json:"behind"`
	// Staged and Modified are files that differ between commit and index, and
	// between index and worktree; one file can be both. A renamed file is one.
	Staged   int `json:"staged"`
	Modified int `json:"modified"`
	// Untracked are files and directories that git neither tracks nor ignores.
	Untracked int `json:"untracked"`
	// Conflicted are files with merge conflicts, which are counted only here.
	Conflicted int `json:"conflicted"`
}

// Status runs the git program to compare the worktree. It takes as long as "git status"; limit it
// by ctx. A bare repository is [ErrBare].
func (r *Repo) Status(ctx context.Context) (Status, error) {
	return read(r, func() (Status, error) {
		out, err := r.status(ctx)
		if err != nil {
			return Status{}, err
		}
		return parseStatus(out)
	})
}

func (r *Repo) status(ctx context.Context) ([]byte, error) {
	if r.Bare() {
		return nil, fmt.Errorf("read status: %w", ErrBare)
	}
	out, err := r.program.Run(ctx, "status", "--porcelain=v2", "--branch", "--ahead-behind", "--untracked-files=normal",
		// Git would run in each submodule, with the submodule's own configuration.
		"--ignore-submodules=dirty", "-z")
	if err != nil {
		return nil, fmt.Errorf("read status: %w", err)
	}
	return out, nil
}

// parseStatus reads the second porcelain format. Records end with a NUL.
func parseStatus(out []byte) (Status, error) {
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
				i++ // its earlier name
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

// branchLines are the facts in the lines about the branch that Status does not have.
type branchLines struct{ compared, unborn bool }

// read reads one line.
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
