// Package history tells how the branches of a repository grew: which commits they have of
// their own ([Unmerged]), how far two of them are apart ([Distance]), and where each began,
// as far as git remembers ([Began]).
package history

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/regular"
)

const prefix = "refs/heads/"

// Commit is a commit of a history.
type Commit struct {
	Hash    string
	Parents []string
	// Message is whole, as it was written.
	Message string
}

// Branches is the local branches with what they have of their own.
type Branches struct {
	// Tips are the commits of all local branches, by name.
	Tips map[string]string
	// Commits are those that a branch has and no root has, by hash.
	Commits map[string]Commit
}

// Unmerged reads the local branches, and the commits that none of the branches roots has.
// Roots that do not exist count for nothing.
func Unmerged(ctx context.Context, git program.Git, roots []string) (Branches, error) {
	out, err := git.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)", prefix)
	if err != nil {
		return Branches{}, fmt.Errorf("read branches: %w", err)
	}
	b := Branches{Tips: make(map[string]string), Commits: make(map[string]Commit)}
	var input bytes.Buffer
	for line := range strings.Lines(string(out)) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		b.Tips[strings.TrimPrefix(name, prefix)] = hash
		fmt.Fprintln(&input, hash)
	}
	if len(b.Tips) == 0 {
		return b, nil
	}
	for _, root := range roots {
		if hash, ok := b.Tips[root]; ok {
			fmt.Fprintln(&input, "^"+hash)
		}
	}
	out, err = git.Feed(ctx, input.Bytes(), "log", "--stdin", "-z", "--no-color", "--no-show-signature", "--topo-order", "--format=%H %P%n%B")
	if err != nil {
		return Branches{}, fmt.Errorf("read the commits of the branches: %w", err)
	}
	for record := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		line, message, _ := strings.Cut(record, "\n")
		hashes := strings.Fields(line)
		if len(hashes) == 0 {
			continue
		}
		b.Commits[hashes[0]] = Commit{Hash: hashes[0], Parents: hashes[1:], Message: strings.TrimSpace(message)}
	}
	return b, nil
}

// Distance counts the commits that branch has and base has not, and the other way round.
func Distance(ctx context.Context, git program.Git, branch, base string) (ahead, behind int, err error) {
	out, err := git.Run(ctx, "rev-list", "--left-right", "--count", prefix+branch+"..."+prefix+base, "--")
	if err != nil {
		return 0, 0, fmt.Errorf("compare %q with %q: %w", branch, base, err)
	}
	if _, err := fmt.Sscan(string(out), &ahead, &behind); err != nil {
		return 0, 0, fmt.Errorf("compare %q with %q: git printed %q", branch, base, out)
	}
	return ahead, behind, nil
}

// Beginning is what git's log of a branch says first.
type Beginning struct {
	// Commit is where the branch began.
	Commit string
	// From is the branch that it was made from, if git noted its name; one of a remote
	// has the remote's name before it.
	From string
}

const (
	// maxFirst is how much of a log is read for its first line.
	maxFirst = 4 << 10
	// maxLog is the size of the largest log that is read: some hundred thousand
	// changes of one branch.
	maxLog = 64 << 20
)

// Began tells where a branch began. It is false where git has forgotten it, as it does
// after some months, or never knew. commonDir is git's folder for all worktrees.
func Began(commonDir, branch string) (Beginning, bool) {
	line := firstLine(filepath.Join(commonDir, "logs", filepath.FromSlash(prefix+branch)))
	// "<old> <new> <who> <time> <zone>\t<why>"; a new branch has no old commit.
	head, why, _ := strings.Cut(line, "\t")
	old, rest, _ := strings.Cut(head, " ")
	commit, _, _ := strings.Cut(rest, " ")
	if old == "" || strings.Trim(old, "0") != "" || commit == "" {
		return Beginning{}, false
	}
	b := Beginning{Commit: commit}
	if from, ok := strings.CutPrefix(why, "branch: Created from "); ok && from != "HEAD" {
		b.From = strings.TrimPrefix(strings.TrimPrefix(from, prefix), "refs/remotes/")
	}
	return b, true
}

// Held reports which of the commits a branch had as its tip at some time, by git's log.
func Held(commonDir, branch string) map[string]bool {
	held := make(map[string]bool)
	file, err := regular.Open(filepath.Join(commonDir, "logs", filepath.FromSlash(prefix+branch)), maxLog)
	if err != nil {
		return held // a branch without a log never held anything that is known
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if fields := strings.SplitN(lines.Text(), " ", 3); len(fields) == 3 {
			held[fields[1]] = true
		}
	}
	return held
}

func firstLine(path string) string {
	file, err := regular.Open(path, maxLog)
	if err != nil {
		return ""
	}
	defer file.Close()
	buf := make([]byte, maxFirst)
	n, _ := file.Read(buf)
	line, _, _ := strings.Cut(string(buf[:n]), "\n")
	return line
}

// Count words a number of commits.
func Count(n int) string {
	if n == 1 {
		return "1 commit"
	}
	return strconv.Itoa(n) + " commits"
}
