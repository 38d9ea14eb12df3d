package adopt_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/copse-dev/copse/internal/branch/adopt"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/git"
	"github.com/copse-dev/copse/internal/git/gittest"
	"github.com/copse-dev/copse/internal/git/history"
)

// repo makes a repository and tells what is known of it.
func repo(t *testing.T, state *twig.State, steps func(git func(args ...string))) adopt.Known {
	t.Helper()
	return repoIn(t, t.TempDir(), state, steps)
}

// repoIn makes a repository in a directory.
func repoIn(t *testing.T, dir string, state *twig.State, steps func(git func(args ...string))) adopt.Known {
	t.Helper()
	g := gittest.New(t)
	g.Run(dir, "init", "-q", "-b", "main")
	n := 0
	steps(func(args ...string) {
		if args[0] == "commit" {
			n++
			args = append([]string{"commit", "-q", "--allow-empty", "-m"}, fmt.Sprintf("%s (%d)", args[1], n))
		}
		if args[0] == "save" { // a commit of what is staged
			args = []string{"commit", "-q", "-m", args[1]}
		}
		if args[0] == "file" { // a commit that adds a file, and all that is staged
			n++
			gittest.Write(t, filepath.Join(dir, fmt.Sprint("file", n)), fmt.Sprint(n))
			g.Run(dir, "add", ".")
			args = append([]string{"commit", "-q", "-m", "step " + fmt.Sprint(n)}, args[1:len(args)-1]...)
		}
		g.Run(dir, args...)
	})
	roots := []string{"main"}
	here, err := git.Discover(t.Context(), dir, git.Options{Env: g.Env})
	if err != nil {
		t.Fatal(err)
	}
	found, err := history.Unmerged(t.Context(), here.Program(), roots)
	if err != nil {
		t.Fatal(err)
	}
	k := adopt.Known{State: state, Root: "main", Roots: roots, History: found, Logs: make(map[string]history.Log)}
	var began []string
	for name := range found.Tips {
		log := history.FileLogs(dir + "/.git")(name)
		k.Logs[name] = log
		if began = append(began, log.Onto...); log.Commit != "" {
			began = append(began, log.Commit)
		}
	}
	if k.Outside, err = history.Outside(t.Context(), here.Program(), began, roots); err != nil {
		t.Fatal(err)
	}
	k.Contained = func(branch string) bool {
		ground, err := history.Contained(t.Context(), here.Program(), found.Tips[branch], found.Tips["main"])
		if err != nil {
			t.Error(err)
		}
		return ground != history.NotContained
	}
	return k
}

// forgetful returns what is known where git keeps no log.
func forgetful(k adopt.Known) adopt.Known {
	k.Logs, k.Outside = nil, nil
	return k
}

// parents returns the proposed parents, with their evidence.
func parents(k adopt.Known) map[string]string {
	found := make(map[string]string)
	for _, p := range adopt.Propose(k) {
		if p.Parent != nil {
			found[p.Branch] = p.Parent.Value + ": " + p.Parent.Evidence
		}
	}
	return found
}

func compare(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Of two branches with the same commits, the second is on the first.
func TestTwins(t *testing.T) {
	t.Parallel()
	k := repo(t, &twig.State{}, func(git func(...string)) {
		git("commit", "first")
		git("checkout", "-q", "-b", "docs")
		git("commit", "docs")
		git("branch", "twin")
	})
	compare(t, map[string]string{
		"docs": "main: no branch below it; 1 commit that no trunk has",
		"twin": "docs: has the same commits",
	}, parents(forgetful(k)))
}

func TestParents(t *testing.T) {
	t.Parallel()
	k := repo(t, &twig.State{}, func(git func(...string)) {
		git("commit", "first")
		git("checkout", "-q", "-b", "z-login") // from main, by HEAD
		git("commit", "login")
		git("commit", "more login")
		git("checkout", "-q", "-b", "a-tests") // from z-login, by HEAD
		git("commit", "tests")
		git("branch", "docs", "z-login")
		git("checkout", "-q", "z-login")
		git("commit", "login goes on")
		git("commit", "and on")
		git("branch", "spike", "main")
	})
	const log, then = "reflog: created from this branch", "reflog: created at this branch's tip"
	compare(t, map[string]string{
		"a-tests": "z-login: " + then,
		"docs":    "z-login: " + log,
		"spike":   "main: " + log,
		"z-login": "main: no branch below it; 4 commits that no trunk has",
	}, parents(k))
	// Without git's log there are only the commits, which do not show which branch continued.
	compare(t, map[string]string{
		"a-tests": "docs: contains all of its commits, and 1 commit more",
		"docs":    "main: no branch below it; 2 commits that no trunk has",
		"spike":   "main: it has no commit that the trunks lack",
		"z-login": "docs: contains all of its commits, and 2 commits more",
	}, parents(forgetful(k)))
	// A pull request knows best.
	k.PullRequests = []adopt.PullRequest{
		{Number: 7, Head: "docs", Base: "spike", Open: true, HeadCommit: k.History.Tips["docs"]},
		{Number: 8, Head: "spike", Base: "main"},
	}
	compare(t, map[string]string{
		"a-tests": "z-login: " + then,
		"docs":    "spike: base of pull request #7",
		"spike":   "main: " + log,
		"z-login": "main: no branch below it; 4 commits that no trunk has",
	}, parents(k))
	for _, p := range adopt.Propose(k) {
		want := map[string]string{"docs": "7: its head branch has this name and its last commit is here", "spike": "8: its head branch has this name; it is closed"}[p.Branch]
		got := ""
		if p.PR != nil {
			got = p.PR.Value + ": " + p.PR.Evidence
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", p.Branch, got, want)
		}
	}
}

// A branch that was moved since it was made belongs where it is now.
func TestRebased(t *testing.T) {
	t.Parallel()
	k := repo(t, &twig.State{}, func(git func(...string)) {
		git("commit", "first")
		git("branch", "top", "main")
		git("checkout", "-q", "-b", "base", "main")
		git("commit", "base")
		git("checkout", "-q", "top")
		git("commit", "top")
		git("rebase", "-q", "base")
	})
	compare(t, map[string]string{
		"base": "main: reflog: created from this branch",
		"top":  "base: reflog: rebased onto this branch",
	}, parents(k))
}

// What is declared stays, and nothing is proposed that would close a cycle.
func TestDeclared(t *testing.T) {
	t.Parallel()
	state := twig.NewState(twig.Document{
		Dependencies: []twig.Dependency{{Child: "a", Parent: "b"}, {Child: "c", Parent: "gone"}},
		Branches:     map[string]twig.Branch{"a": {JiraIssue: "OLD-1", GitHubPR: 3}},
	})
	k := repo(t, state, func(git func(...string)) {
		git("commit", "first")
		for _, name := range []string{"a", "b", "c"} {
			git("checkout", "-q", "-b", name)
			git("commit", "NEW-2: work on "+name)
		}
	})
	k.PullRequests = []adopt.PullRequest{{Number: 9, Head: "a", Base: "main", Open: true}}
	compare(t, map[string]string{"b": "main: no branch below it; 2 commits that no trunk has"}, parents(forgetful(k)))
	for _, p := range adopt.Propose(k) {
		if p.Branch == "a" {
			t.Errorf("proposed for a branch that has all: %+v", p)
		}
	}
	k.Only = []string{"c", "nothing", "main"}
	if got := adopt.Propose(k); len(got) != 1 || got[0].Branch != "c" || got[0].Jira.Value != "NEW-2" {
		t.Errorf("got %+v", got)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	k := repo(t, &twig.State{}, func(git func(...string)) {
		git("commit", "BASE-1: is not theirs")
		for _, name := range []string{"PROJ-12", "feature/PROJ-7-login", "utf-8", "UTF-8", "fix-2", "plain", "xPROJ-3", "A-4", "feature/Q-5-search", "plan-B-6", "X-509"} {
			git("checkout", "-q", "-b", name, "main")
			switch name {
			case "plain":
				git("commit", "AB-1: one, plan C-8")
				git("commit", "AB-2: two, see UTF-8 and X-AB-9")
				git("commit", "more of AB-2")
			case "PROJ-12":
				git("commit", "PROJ-12 and AB-1")
			default:
				git("commit", "nothing")
			}
		}
	})
	got := make(map[string]string)
	for _, p := range adopt.Propose(k) {
		if p.Jira != nil {
			got[p.Branch] = p.Jira.Value + ": " + p.Jira.Evidence
		}
	}
	compare(t, map[string]string{
		"PROJ-12":              "PROJ-12: in the branch name and its only commit",
		"feature/PROJ-7-login": "PROJ-7: in the branch name",
		"plain":                "AB-2: in 2 of its 3 commits",
		"A-4":                  "A-4: in the branch name",
		"feature/Q-5-search":   "Q-5: in the branch name",
	}, got)
}

// Whatever the history looks like, each branch that is not a root gets a parent, and they
// form no cycle.
func TestNoCycle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		k := adopt.Known{State: &twig.State{}, Root: "main", Roots: []string{"main"}}
		k.History = history.Branches{Tips: map[string]string{"main": "root"}, Commits: map[string]history.Commit{}}
		var hashes []string
		for i := range rapid.IntRange(1, 12).Draw(rt, "commits") {
			c := history.Commit{Hash: fmt.Sprint(i), Parents: []string{"root"}}
			if len(hashes) > 0 {
				c.Parents = rapid.SliceOfNDistinct(rapid.SampledFrom(hashes), 1, min(2, len(hashes)), rapid.ID).Draw(rt, "parents")
			}
			k.History.Commits[c.Hash] = c
			hashes = append(hashes, c.Hash)
		}
		k.Logs, k.Outside = make(map[string]history.Log), make(map[string]bool)
		merged := make(map[string]bool)
		for i := range rapid.IntRange(1, 6).Draw(rt, "branches") {
			name := fmt.Sprintf("b%d", i)
			k.History.Tips[name] = rapid.SampledFrom(hashes).Draw(rt, "tip")
			commits := rapid.SliceOfN(rapid.SampledFrom(hashes), 3, 3).Draw(rt, "log")
			k.Logs[name] = history.Log{
				Commit: commits[0], From: rapid.SampledFrom([]string{"", "b0", "b1", "b2", "main", "gone"}).Draw(rt, "from"),
				Held: map[string]bool{commits[1]: rapid.Bool().Draw(rt, "made")}, Onto: commits[2:],
			}
			k.Outside[commits[0]], k.Outside[commits[2]] = true, rapid.Bool().Draw(rt, "outside")
			merged[name] = rapid.Bool().Draw(rt, "merged")
			if rapid.Bool().Draw(rt, "pr") {
				k.PullRequests = append(k.PullRequests, adopt.PullRequest{
					Number: 1, Head: name, Base: rapid.SampledFrom([]string{"b0", "b1", "b3", "main"}).Draw(rt, "base"), Open: true,
				})
			}
		}
		k.Contained = func(branch string) bool { return merged[branch] }
		above := make(map[string]string)
		for _, p := range adopt.Propose(k) {
			if p.Parent != nil {
				above[p.Branch] = p.Parent.Value
			}
		}
		for name := range maps.Keys(k.History.Tips) {
			var path []string
			for at := name; at != "main"; at = above[at] {
				if at == "" || slices.Contains(path, at) {
					rt.Fatalf("%s leads to %q by %q", name, at, path)
				}
				path = append(path, at)
			}
		}
	})
}

// What a branch has of its own depends on its parent: also on one that was only said.
func TestIssueBelowParentThatWasSaid(t *testing.T) {
	t.Parallel()
	k := repo(t, &twig.State{}, func(git func(...string)) {
		git("commit", "first")
		git("checkout", "-q", "-b", "login")
		git("commit", "ABC-1 login")
		git("commit", "ABC-1 more login")
		git("checkout", "-q", "-b", "tests")
		git("commit", "ABC-2 tests")
	})
	k.Only = []string{"tests"}
	for said, want := range map[string]string{"": "ABC-2", "login": "ABC-2", "main": "ABC-1"} {
		if k.Said = nil; said != "" {
			k.Said = map[string]string{"tests": said}
		}
		got := adopt.Propose(k)
		if len(got) != 1 || got[0].Jira == nil || got[0].Jira.Value != want {
			t.Errorf("below %q: %+v, want the issue %s", said, got, want)
		} else if said != "" && (got[0].Parent.Value != said || got[0].Parent.Evidence != adopt.Said) {
			t.Errorf("below %q: parent %+v", said, got[0].Parent)
		}
	}
}
