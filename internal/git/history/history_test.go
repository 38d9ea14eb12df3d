package history_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/history"
)

func TestUnmerged(t *testing.T) {
	t.Parallel()
	g := gittest.New(t)
	dir := t.TempDir()
	g.Run(dir, "init", "-q", "-b", "main")
	repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	program := repo.Program()
	empty, err := history.Unmerged(t.Context(), program, []string{"main"})
	if err != nil || len(empty.Tips)+len(empty.Commits) > 0 {
		t.Fatalf("without a commit: %+v, %v", empty, err)
	}
	commit := func(message string) string {
		g.Run(dir, "commit", "-q", "--allow-empty", "-m", message)
		return strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD"))
	}
	base := commit("base")
	// A tag or a file of the same name is not the branch.
	g.Run(dir, "tag", "topic/ü")
	g.Run(dir, "checkout", "-q", "-b", "topic/ü")
	first := commit("first\n\nwith a body\x01and more")
	second := commit("second")
	g.Run(dir, "checkout", "-q", "main")
	later := commit("main goes on")
	found, err := history.Unmerged(t.Context(), program, []string{"main", "gone"})
	if err != nil {
		t.Fatal(err)
	}
	want := history.Branches{
		Tips:   map[string]string{"main": later, "topic/ü": second},
		Newest: []string{"main", "topic/ü"},
		Commits: map[string]history.Commit{
			first:  {Hash: first, Parents: []string{base}, Message: "first\n\nwith a body\x01and more"},
			second: {Hash: second, Parents: []string{first}, Message: "second"},
		},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if ahead, behind, err := history.Distance(t.Context(), program, "topic/ü", "main"); ahead != 2 || behind != 1 || err != nil {
		t.Errorf("%d ahead, %d behind, %v", ahead, behind, err)
	}
	if _, _, err := history.Distance(t.Context(), program, "gone", "main"); err == nil {
		t.Error("a branch that is gone was compared")
	}
}

// Both formats of refs give the same reflogs.
func TestLogs(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"files", "reftable"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			g := gittest.New(t)
			var args []string
			if format != "files" {
				args = append(args, "--ref-format="+format)
			}
			dir := g.Init(args...)
			g.Run(dir, "commit", "-q", "--allow-empty", "-m", "base")
			base := strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD"))
			g.Run(dir, "checkout", "-q", "-b", "by-head")
			g.Run(dir, "commit", "-q", "--allow-empty", "-m", "more")
			tip := strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD"))
			g.Run(dir, "branch", "by/name", "main")
			g.Run(dir, "branch", "forgotten", "main")
			g.Run(dir, "reflog", "expire", "--expire=all", "refs/heads/forgotten")
			g.Run(dir, "branch", "old", "main")
			g.Run(dir, "branch", "-m", "old", "new")
			g.Run(dir, "checkout", "-q", "-b", "rebased", "main")
			g.Run(dir, "commit", "-q", "--allow-empty", "-m", "mine")
			mine := strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD"))
			g.Run(dir, "rebase", "-q", "--keep-empty", "by-head")
			moved := strings.TrimSpace(g.Run(dir, "rev-parse", "HEAD"))
			g.Run(dir, "checkout", "-q", "-b", "empty", "main")
			g.Run(dir, "rebase", "-q", "by-head")
			repo, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
			if err != nil {
				t.Fatal(err)
			}
			logs, err := history.Logs(t.Context(), repo.Program(), repo.CommonDir())
			if err != nil {
				t.Fatal(err)
			}
			for branch, want := range map[string]history.Log{
				"by-head":   {Commit: base, Held: map[string]bool{base: false, tip: true}, Tips: []string{base, tip}},
				"by/name":   {Commit: base, From: "main", Held: map[string]bool{base: false}, Tips: []string{base}},
				"new":       {Commit: base, From: "main", Held: map[string]bool{base: false}, Names: []string{"old"}, Tips: []string{base, base}},
				"rebased":   {Commit: base, From: "main", Onto: []string{tip}, Held: map[string]bool{base: false, mine: true, moved: true}, Tips: []string{base, mine, moved}},
				"empty":     {Commit: base, From: "main", Onto: []string{tip}, Held: map[string]bool{base: false, tip: false}, Tips: []string{base, tip}},
				"forgotten": {Held: map[string]bool{}},
				"gone":      {Held: map[string]bool{}},
			} {
				if diff := cmp.Diff(want, logs(branch)); diff != "" {
					t.Errorf("%s: %s", branch, diff)
				}
			}
		})
	}
}
