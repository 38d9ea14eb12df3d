package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/copse-dev/copse/internal/git/program"
	"github.com/copse-dev/copse/internal/xec"
)

// Pair is two commits to compare.
type Pair struct{ Commit, Base string }

// Gap contains the number of commits that only the Commit of a [Pair] has, and of those that only
// its Base has.
type Gap struct{ Ahead, Behind int }

// Gaps compares pairs of commits, all of them with two runs of git. It fails if git does not have
// one of the commits.
func Gaps(ctx context.Context, git program.Git, pairs []Pair) (map[Pair]Gap, error) {
	gaps := make(map[Pair]Gap, len(pairs))
	var commits []string
	met := make(map[string]bool)
	for _, p := range pairs {
		if p.Commit == p.Base {
			gaps[p] = Gap{}
			continue
		}
		for _, c := range []string{p.Commit, p.Base} {
			if !met[c] {
				met[c] = true
				commits = append(commits, c)
			}
		}
	}
	if len(commits) == 0 {
		return gaps, nil
	}
	// Commits that all of them share count for no pair.
	shared, err := git.Run(ctx, append([]string{"merge-base", "--octopus", "--all"}, commits...)...)
	if exit, ok := errors.AsType[*xec.ExitError](err); ok && exit.Code == 1 {
		err = nil // they share nothing
	}
	if err != nil {
		return nil, fmt.Errorf("compare commits: %w", err)
	}
	var input bytes.Buffer
	for _, c := range commits {
		fmt.Fprintln(&input, c)
	}
	for base := range strings.FieldsSeq(string(shared)) {
		fmt.Fprintln(&input, "^"+base)
	}
	out, err := git.Feed(ctx, input.Bytes(), "rev-list", "--parents", "--stdin")
	if err != nil {
		return nil, fmt.Errorf("compare commits: %w", err)
	}
	g := graph{}
	for line := range strings.Lines(string(out)) {
		if hashes := strings.Fields(line); len(hashes) > 0 {
			g[hashes[0]] = hashes[1:]
		}
	}
	reached := make(map[string]map[string]bool)
	for _, c := range commits {
		reached[c] = g.reach(c)
	}
	for _, p := range pairs {
		if p.Commit == p.Base {
			continue
		}
		gaps[p] = Gap{Ahead: without(reached[p.Commit], reached[p.Base]), Behind: without(reached[p.Base], reached[p.Commit])}
	}
	return gaps, nil
}

// graph is the parents of commits.
type graph map[string][]string

// reach returns the commits of the graph that a commit contains, including itself.
func (g graph) reach(commit string) map[string]bool {
	met := make(map[string]bool)
	for todo := []string{commit}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		parents, known := g[at]
		if !known || met[at] {
			continue
		}
		met[at] = true
		todo = append(todo, parents...)
	}
	return met
}

// without counts the commits in a that are not in b.
func without(a, b map[string]bool) int {
	n := 0
	for commit := range a {
		if !b[commit] {
			n++
		}
	}
	return n
}
