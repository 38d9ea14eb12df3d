package git

import (
	"bytes"
	"cmp"
	"context"
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
	// Code is the two letters of "git status --short": index, then worktree; "??" means untracked,
	// and the name of a directory then ends with a slash.
	Code string `json:"code"`
}

// Changes returns Status with the files that it counts: conflicted files first, then those modified
// in the worktree, then staged, then untracked ones, each by path.
func (r *Repo) Changes(ctx context.Context) (Status, []Change, error) {
	type answer struct {
		status  Status
		changes []Change
	}
	a, err := read(r, func() (a answer, err error) {
		out, err := r.status(ctx)
		if err != nil {
			return a, err
		}
		if a.status, err = parseStatus(out); err != nil {
			return a, err
		}
		a.changes, err = parseChanges(out)
		return a, err
	})
	return a.status, a.changes, err
}

// parseChanges reads the files of the second porcelain format.
func parseChanges(out []byte) ([]Change, error) {
	var changes []Change
	records := strings.Split(string(bytes.TrimSuffix(out, []byte("\x00"))), "\x00")
	// The number of fields before the path.
	before := map[byte]int{'1': 8, '2': 9, 'u': 10, '?': 1}
	for i := 0; i < len(records); i++ {
		record := records[i]
		if record == "" || before[record[0]] == 0 {
			continue
		}
		fields := strings.SplitN(record, " ", before[record[0]]+1)
		if len(fields) != before[record[0]]+1 {
			return nil, fmt.Errorf("read status: git printed %q", record)
		}
		c := Change{Path: fields[len(fields)-1], Code: "??"}
		if record[0] != '?' {
			c.Code = strings.ReplaceAll(fields[1], ".", " ")
		}
		if record[0] == '2' {
			if i++; i < len(records) {
				c.From = records[i]
			}
		}
		changes = append(changes, c)
	}
	slices.SortStableFunc(changes, func(a, b Change) int { return cmp.Compare(a.urgency(), b.urgency()) })
	return changes, nil
}

// Conflict reports whether git could not merge the file.
func (c Change) Conflict() bool {
	return strings.Contains(c.Code, "U") || c.Code == "AA" || c.Code == "DD"
}

// urgency orders changes: a truncated list loses the least urgent ones.
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

// LineCount is the number of added and removed lines of a file; both are 0 for a binary file.
type LineCount struct{ Added, Deleted int }

// DiffStat returns, by path, how tracked files in the worktree differ from the checked-out commit.
// Git looks at the files among paths, or at all tracked files when there are no paths.
func (r *Repo) DiffStat(ctx context.Context, paths ...string) (map[string]LineCount, error) {
	return read(r, func() (map[string]LineCount, error) {
		if r.Bare() {
			return nil, fmt.Errorf("compare files: %w", ErrBare)
		}
		head, err := r.refs().head(ctx)
		if err != nil {
			return nil, fmt.Errorf("compare files: %w", err)
		}
		base := "HEAD"
		if head.Unborn {
			base = "--cached" // with nothing
		}
		args := []string{
			"diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", base, "--",
		}
		for _, path := range paths {
			args = append(args, ":(top,literal)"+path)
		}
		out, err := r.program.Run(ctx, args...)
		if err != nil {
			return nil, fmt.Errorf("compare files: %w", err)
		}
		return parseNumstat(out), nil
	})
}

// DiffBranch returns, by path, what a branch changes compared with the point where it left another
// one. Both are names of local branches.
func (r *Repo) DiffBranch(ctx context.Context, branch, base string) (map[string]LineCount, error) {
	return read(r, func() (map[string]LineCount, error) {
		const heads = "refs/heads/"
		out, err := r.program.Run(ctx, "diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv",
			"--ignore-submodules=dirty", heads+base+"..."+heads+branch, "--")
		if err != nil {
			return nil, fmt.Errorf("compare %q with %q: %w", branch, base, err)
		}
		return parseNumstat(out), nil
	})
}

// parseNumstat reads the output of "git diff --numstat -z".
func parseNumstat(out []byte) map[string]LineCount {
	stat := map[string]LineCount{}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		fields := strings.SplitN(record, "\t", 3)
		if len(fields) != 3 {
			continue
		}
		if fields[0] == "0" && fields[1] == "0" {
			continue // another time or mode, but the same lines
		}
		added, _ := strconv.Atoi(fields[0]) // "-" for a binary file
		deleted, _ := strconv.Atoi(fields[1])
		stat[fields[2]] = LineCount{added, deleted}
	}
	return stat
}
