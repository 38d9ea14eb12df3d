package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/regular"
)

// Commit is one commit of a history.
type Commit struct {
	// Hash is abbreviated by git.
	Hash string `json:"hash"`
	// Subject is the first line of the message, unchanged.
	Subject string `json:"subject"`
	// When is the committer's time.
	When time.Time `json:"when"`
	// Files are the files that the commit added or changed; none for a merge, and none if Boundary.
	Files []string `json:"files,omitempty"`
	// Boundary means that the history of a shallow clone ends with this commit. Which files the
	// commit changed is unknown: git compares it with an empty tree.
	Boundary bool `json:"boundary,omitempty"`
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
		out, err := r.program.Run(ctx, "log", "-z", "--no-color", "--no-show-signature", "--max-count="+strconv.Itoa(n), "--format=%x01%H%n%h%n%cI%n%s",
			"--name-status", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "HEAD", "--")
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		commits, hashes, err := parseLogFiles(string(out))
		if err != nil {
			return nil, err
		}
		boundary := string(r.Boundary())
		for i, hash := range hashes {
			if boundary != "" && strings.Contains(boundary, hash) {
				commits[i].Boundary, commits[i].Files = true, nil
			}
		}
		return commits, nil
	})
}

// maxBoundary is the maximum size of the list of commits where the history of a shallow clone ends.
const maxBoundary = 16 << 20

// Boundary returns the hashes of the commits where the history of a shallow clone ends, one on each
// line; none if the clone has all of its history.
func (r *Repo) Boundary() []byte {
	text, err := regular.Read(filepath.Join(r.at.CommonDir, "shallow"), maxBoundary)
	if err != nil {
		return nil
	}
	return text
}

// logMark begins a commit: the names of its files are between it and the next one.
const logMark = "\x01"

// parseLogFiles reads records that end with a NUL: a commit begins with the mark, and the others
// are its files, each after a status letter; the first letter follows a newline. The commits' whole
// hashes are returned beside them.
func parseLogFiles(out string) (commits []Commit, hashes []string, err error) {
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(records); i++ {
		if text, ok := strings.CutPrefix(strings.TrimPrefix(records[i], "\n"), logMark); ok {
			hash, text, _ := strings.Cut(text, "\n")
			one, err := parseLog(text)
			if err != nil {
				return nil, nil, err
			}
			commits, hashes = append(commits, one...), append(hashes, hash)
			continue
		}
		if i+1 == len(records) || len(commits) == 0 {
			return nil, nil, fmt.Errorf("read history: git printed %q", records[i])
		}
		kind := strings.TrimPrefix(records[i], "\n")
		if i++; kind != "D" {
			last := &commits[len(commits)-1]
			last.Files = append(last.Files, records[i])
		}
	}
	return commits, hashes, nil
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
