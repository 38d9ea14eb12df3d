package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/copse-dev/copse/bench/fixture"
	"github.com/copse-dev/copse/bench/measure"
	"github.com/copse-dev/copse/bench/report"
	"github.com/copse-dev/copse/internal/github/githubtest"
	"github.com/copse-dev/copse/internal/test/stdio"
)

// stacks measures the verdict on a stack of five branches from the cache, and the conflicts
// between twenty worktrees of a repository as large as golang.org/x/tools, beside git alone.
func stacks(ctx context.Context, work string, copse []string, rounds int) ([]report.Row, error) {
	env := []string{"XDG_CACHE_HOME=" + filepath.Join(work, "stacks-cache"), "GH_TOKEN=bench"}
	rows, err := stackVerdict(ctx, filepath.Join(work, "stack"), env, copse, rounds)
	if err != nil {
		return nil, err
	}
	more, err := conflictRadar(ctx, filepath.Join(work, "radar"), env, copse, max(rounds/4, 5))
	return append(rows, more...), err
}

// stackVerdict measures the time and the size of a verdict.
func stackVerdict(ctx context.Context, dir string, env, copse []string, rounds int) ([]report.Row, error) {
	if err := fixture.Repository(ctx, dir, 5); err != nil {
		return nil, err
	}
	shop := githubtest.Repository{Name: "acme/shop"}
	for i := range 5 {
		shop.PullRequests = append(shop.PullRequests, githubtest.PullRequest{
			Number: i + 1, Head: fixture.BranchName(i), Mergeable: new(true), MergeableState: "clean", ReviewDecision: "approved",
			CheckRuns: []githubtest.CheckRun{{Name: "test", Conclusion: "success"}, {Name: "lint", Conclusion: "success"}},
		})
	}
	github, err := githubtest.Start(githubtest.Fixture{Token: "bench", Repositories: []githubtest.Repository{shop}})
	if err != nil {
		return nil, err
	}
	defer github.Close()
	if err := fixture.Git(ctx, dir, "", "remote", "add", "origin", "https://github.com/acme/shop"); err != nil {
		return nil, err
	}
	time.Sleep(measure.Settle)
	s, err := stdio.SpawnWith(ctx, dir, append(env, "GITHUB_API_URL="+github.URL), copse...)
	if err != nil {
		return nil, err
	}
	const tool = "get_stack_status"
	if _, _, err := s.Call(tool, "{}"); err != nil {
		return nil, err
	}
	took, err := measure.Repeat(s, rounds*5, tool, func(int) string { return `{"cached":true}` })
	if err != nil {
		return nil, err
	}
	_, line, err := s.Call(tool, `{"cached":true}`)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(line, &answer); err != nil || len(answer.Result.Content) == 0 {
		return nil, fmt.Errorf("%s answers %.80q: %w", tool, line, err)
	}
	return []report.Row{
		report.Limit("stack of five branches: get_stack_status from the cache", "ms", report.Milliseconds(took), 5),
		report.Limit("stack of five branches: size of the verdict", "KB", float64(len(answer.Result.Content[0].Text))/1024, 2),
	}, s.Stop()
}

const (
	radarFiles     = 2844
	radarWorktrees = 20
)

// conflictRadar measures a first look, and one when nothing changed, beside git: a merge of
// each pair without any of the changes that are not committed.
func conflictRadar(ctx context.Context, dir string, env, copse []string, rounds int) ([]report.Row, error) {
	var pairs []string
	if err := radarRepository(ctx, dir, &pairs); err != nil {
		return nil, err
	}
	time.Sleep(measure.Settle)
	begin := time.Now()
	for _, pair := range pairs {
		a, b, _ := strings.Cut(pair, " ")
		// The exit status reports whether there is a conflict.
		if err := fixture.Git(ctx, dir, "", "merge-tree", "--write-tree", a, b); err != nil && ctx.Err() != nil {
			return nil, err
		}
	}
	alone := time.Since(begin)
	s, err := stdio.SpawnWith(ctx, dir, env, copse...)
	if err != nil {
		return nil, err
	}
	cold, _, err := s.Call("get_conflicts", "{}")
	if err != nil {
		return nil, err
	}
	warm, err := measure.Repeat(s, rounds, "get_conflicts", func(int) string { return "{}" })
	if err != nil {
		return nil, err
	}
	what := fmt.Sprintf("conflicts of %d worktrees of %s files: ", radarWorktrees, report.Thousands(radarFiles))
	return []report.Row{
		report.Limit(what+"first look, beside a git merge-tree for each pair", "ms", report.Milliseconds(cold), 2000).Beside(report.Milliseconds(alone)),
		report.Limit(what+"nothing changed", "ms", report.Milliseconds(warm), 100),
	}, s.Stop()
}

// radarRepository makes a repository with worktrees that have commits and other changes, and
// returns the pairs of their branches.
func radarRepository(ctx context.Context, dir string, pairs *[]string) error {
	name := func(n int) string { return fmt.Sprintf("dir%02d/sub%02d/file%d.go", n%20, n/20%15, n) }
	text := strings.Repeat("a line of text\n", 100)
	if err := fixture.Repository(ctx, dir, 0); err != nil {
		return err
	}
	for n := range radarFiles {
		if err := fixture.Write(filepath.Join(dir, name(n)), text); err != nil {
			return err
		}
	}
	if err := fixture.Git(ctx, dir, "", "add", "."); err != nil {
		return err
	}
	if err := fixture.Git(ctx, dir, "", "commit", "-q", "-m", "files"); err != nil {
		return err
	}
	for w := range radarWorktrees {
		at, own := fmt.Sprintf("%s-%d", dir, w), fmt.Sprintf("branch-%d", w)
		if err := fixture.Git(ctx, dir, "", "worktree", "add", "-q", "-b", own, at); err != nil {
			return err
		}
		for n := range 12 {
			if err := fixture.Write(filepath.Join(at, name(w*7+n)), text+own+"\n"); err != nil {
				return err
			}
		}
		if err := fixture.Git(ctx, at, "", "commit", "-q", "-a", "-m", "change"); err != nil {
			return err
		}
		if err := fixture.Write(filepath.Join(at, name(w+1000)), text+own+"\n"); err != nil {
			return err
		}
		for other := range w {
			*pairs = append(*pairs, fmt.Sprintf("branch-%d %s", other, own))
		}
	}
	return nil
}
