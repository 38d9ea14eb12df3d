// Package history reports how the branches of a repository grew: their own commits ([Unmerged]),
// the distance between two of them ([Distance]), whether one has the changes of another ([Contained]),
// and their reflogs ([Logs]).
package history

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/git/program"
)

const prefix = "refs/heads/"

// Commit is a commit of a history.
type Commit struct {
	Hash    string
	Parents []string
	// Message is the complete, unchanged message.
	Message string
}

// Branches are the local branches with their own commits.
type Branches struct {
	// Tips are the commits of all local branches, by name.
	Tips map[string]string
	// Newest are the names of all local branches, that with the newest commit first.
	Newest []string
	// Commits are the commits that a branch has and no root has, by hash.
	Commits map[string]Commit
}

// Unmerged reads the local branches, and the commits that none of the branches roots has. It
// ignores roots that do not exist.
func Unmerged(ctx context.Context, git program.Git, roots []string) (Branches, error) {
	out, err := git.Run(ctx, "for-each-ref", "--sort=refname", "--sort=-committerdate", "--format=%(objectname) %(refname)", prefix)
	if err != nil {
		return Branches{}, fmt.Errorf("read branches: %w", err)
	}
	b := Branches{Tips: make(map[string]string), Commits: make(map[string]Commit)}
	var input bytes.Buffer
	for line := range strings.Lines(string(out)) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name = strings.TrimPrefix(name, prefix)
		b.Tips[name], b.Newest = hash, append(b.Newest, name)
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

// Outside returns those of the commits that none of the branches roots has. It omits commits that
// git no longer has.
func Outside(ctx context.Context, git program.Git, commits, roots []string) (map[string]bool, error) {
	if len(commits) == 0 {
		return nil, nil
	}
	var input bytes.Buffer
	for _, hash := range commits {
		fmt.Fprintln(&input, hash)
	}
	for _, root := range roots {
		fmt.Fprintln(&input, "^"+prefix+root)
	}
	out, err := git.Feed(ctx, input.Bytes(), "rev-list", "--stdin", "--ignore-missing")
	if err != nil {
		return nil, fmt.Errorf("compare commits with the trunks: %w", err)
	}
	outside := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		outside[strings.TrimSuffix(line, "\n")] = true
	}
	return outside, nil
}

// Tip returns the commit at the tip of a branch.
func Tip(ctx context.Context, git program.Git, branch string) (string, error) {
	out, err := git.Run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", prefix+branch)
	if err != nil {
		return "", fmt.Errorf("read branch %q: %w", branch, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// Distance counts the commits that only branch has, and those that only base has.
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
