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
	// Hash is abbreviated as git does it.
	Hash string `json:"hash"`
	// Subject is the first line of the message, as it was written.
	Subject string `json:"subject"`
	// When is the committer's time.
	When time.Time `json:"when"`
}

// Log returns the last n commits of what is checked out, the newest first; none
// on an unborn branch.
func (r *Repo) Log(ctx context.Context, n int) ([]Commit, error) {
	return read(r, func() ([]Commit, error) {
		head, err := r.refs().head(ctx)
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		if head.Unborn {
			return nil, nil
		}
		out, err := r.git(ctx, "log", "-z", "--no-color", "--no-show-signature", "--max-count="+strconv.Itoa(n), "--format=%h%n%cI%n%s")
		if err != nil {
			return nil, fmt.Errorf("read history: %w", err)
		}
		return parseLog(string(out))
	})
}

// parseLog reads records that end with a NUL, of three lines each; the subject
// is last, so that whatever is in it belongs to it.
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
