package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Commit is one commit of a history.
type Commit struct {
	// Hash is abbreviated by git.
	Hash string `json:"hash"`
	// Subject is the first line of the message, unchanged.
	Subject string `json:"subject"`
	// When is the committer's time.
	When time.Time `json:"when"`
	// Files are the files that the commit added or changed; none for a merge.
	Files []string `json:"files,omitempty"`
}

// Log returns the last n commits of HEAD, the newest first, with their files, except deleted ones;
// none on an unborn branch.
func (r *Repo) Log(ctx context.Context, n int) ([]Commit, error) {
	return read(r, func() ([]Commit, error) {
		head, err := r.Refs().Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if head.Unborn {
			return nil, nil
		}
		out, err := r.program.Run(ctx, "log", "-z", "--no-color", "--no-show-signature", "--max-count="+strconv.Itoa(n), "--format=%x01%h%n%cI%n%s",
			"--name-status", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD", "--")
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		return parseLogFiles(string(out))
	})
}

// logMark begins a commit: the names of its files are between it and the next one.
const logMark = "\x01"

// parseLogFiles reads records that end with a NUL: a commit begins with the mark, and the others
// are its files, each after a status letter; the first letter follows a newline.
func parseLogFiles(out string) ([]Commit, error) {
	var commits []Commit
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(records); i++ {
		if text, ok := strings.CutPrefix(strings.TrimPrefix(records[i], "\n"), logMark); ok {
			one, err := parseLog(text)
			if err != nil {
				return nil, err
			}
			commits = append(commits, one...)
			continue
		}
		if i+1 == len(records) || len(commits) == 0 {
			return nil, fmt.Errorf("read history: git printed %q", records[i])
		}
		kind := strings.TrimPrefix(records[i], "\n")
		if i++; kind != "D" {
			last := &commits[len(commits)-1]
			last.Files = append(last.Files, records[i])
		}
	}
	return commits, nil
}

// parseLog reads records that end with a NUL, of three lines each. The subject is last, so it can
// contain anything.
func parseLog(out string) ([]Commit, error) {
	var commits []Commit
	for record := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		fields := strings.SplitN(record, "\n", 3)
		if len(fields) != 3 {
			return nil, fmt.Errorf("read history: git printed %q", record)
		}
		when, err := time.Parse(time.RFC3339, fields[1])
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		commits = append(commits, Commit{Hash: fields[0], When: when.UTC(), Subject: strings.TrimSuffix(fields[2], "\n")})
	}
	return commits, nil
}
