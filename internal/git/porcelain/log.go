package porcelain

import (
	"fmt"
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
	// Files are the files that the commit added or changed; none for a merge, and none if Boundary.
	Files []string `json:"files,omitempty"`
	// Boundary means that the history of a shallow clone ends with this commit. Which files the
	// commit changed is unknown: git compares it with an empty tree.
	Boundary bool `json:"boundary,omitempty"`
}

// LogFormat is the argument of "git log" for [ParseLog].
const LogFormat = "--format=%x01%H%n%h%n%cI%n%s"

// logMark begins a commit: the names of its files are between it and the next one.
const logMark = "\x01"

// ParseLog reads what "git log -z --name-status" prints, records that end with a NUL: a commit begins
// with a mark, and the others are its files, each after a status letter; the first letter follows a
// newline. The commits' whole hashes are returned beside them.
func ParseLog(out string) (commits []Commit, hashes []string, err error) {
	records := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	for i := 0; i < len(records); i++ {
		if text, ok := strings.CutPrefix(strings.TrimPrefix(records[i], "\n"), logMark); ok {
			hash, text, _ := strings.Cut(text, "\n")
			one, err := parseCommit(text)
			if err != nil {
				return nil, nil, err
			}
			commits, hashes = append(commits, one), append(hashes, hash)
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

// parseCommit reads a commit's three lines. The subject is last, so it can contain anything.
func parseCommit(record string) (Commit, error) {
	fields := strings.SplitN(record, "\n", 3)
	if len(fields) != 3 {
		return Commit{}, fmt.Errorf("read history: git printed %q", record)
	}
	when, err := time.Parse(time.RFC3339, fields[1])
	if err != nil {
		return Commit{}, fmt.Errorf("read history: %w", err)
	}
	return Commit{Hash: fields[0], When: when.UTC(), Subject: strings.TrimSuffix(fields[2], "\n")}, nil
}
