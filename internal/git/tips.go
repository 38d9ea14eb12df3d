package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/git/refstore"
	"github.com/copse-dev/copse/internal/xec"
)

// Tip is a branch and its last commit.
type Tip struct {
	// Ref is the full name, as in "refs/heads/main".
	Ref string
	// Commit is the hash of the commit.
	Commit string
	// At is the time of the commit.
	At time.Time
}

// Branch returns the short name of a local branch, "" for another ref.
func (t Tip) Branch() string {
	name, ok := strings.CutPrefix(t.Ref, refstore.BranchPrefix)
	if !ok {
		return ""
	}
	return name
}

// Tips returns all local branches and the refs with other full names, by name, from the git
// program.
func (r *Repo) Tips(ctx context.Context, others ...string) ([]Tip, error) {
	return read(r, func() ([]Tip, error) {
		args := append([]string{"for-each-ref", "--format=%(refname) %(objecttype) %(objectname) %(committerdate:unix)", refstore.BranchPrefix}, others...)
		out, err := r.program.Run(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("list branches: %w", err)
		}
		var tips []Tip
		for line := range strings.Lines(string(out)) {
			fields := strings.Fields(line)
			const parts = 4
			if len(fields) != parts || fields[1] != "commit" {
				continue
			}
			seconds, err := strconv.ParseInt(fields[3], 10, 64)
			if err != nil {
				continue // a damaged commit
			}
			tips = append(tips, Tip{Ref: fields[0], Commit: fields[2], At: time.Unix(seconds, 0)})
		}
		return tips, nil
	})
}

// Merged returns the commits of the local branches that a commit has.
func (r *Repo) Merged(ctx context.Context, into string) (map[string]bool, error) {
	return read(r, func() (map[string]bool, error) {
		out, err := r.program.Run(ctx, "for-each-ref", "--merged="+into, "--format=%(objectname)", refstore.BranchPrefix)
		if err != nil {
			return nil, fmt.Errorf("list merged branches: %w", err)
		}
		merged := map[string]bool{}
		for line := range strings.Lines(string(out)) {
			merged[strings.TrimSpace(line)] = true
		}
		return merged, nil
	})
}

// MergeBase returns the last common commit of two commits, "" if there is none.
func (r *Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	return read(r, func() (string, error) {
		out, err := r.program.Run(ctx, "merge-base", a, b, "--")
		if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == 1 {
			return "", nil
		}
		if err != nil {
			return "", fmt.Errorf("compare commits: %w", err)
		}
		base, _, _ := strings.Cut(string(out), "\n")
		return base, nil
	})
}
