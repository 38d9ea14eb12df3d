package verdict

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/workflow/verdict/nextstep"
)

func open(change func(*PullRequest)) PullRequest {
	pr := PullRequest{Number: 7, State: "open", ReviewDecision: "approved", Checks: "passing", Mergeable: new(true), UnresolvedThreads: new(0)}
	if change != nil {
		change(&pr)
	}
	return pr
}

func pushed(change func(*Branch)) Branch {
	b := Branch{
		Branch: "b", Parent: "a", Source: "git-spice", PullRequest: open(nil), NeedsRestack: new(false),
		Ahead: new(1), Behind: new(0), Unpushed: new(0), Remote: "origin/b",
	}
	if change != nil {
		change(&b)
	}
	return b
}

// Each state has its outcome, its sentence, and its next step.
func TestJudge(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change        func(*Branch)
		outcome       Outcome
		blocker, next string
	}{
		"ready":     {nil, Ready, "", "gh pr merge 7"},
		"missing":   {func(b *Branch) { b.Missing = true }, Blocked, "b is recorded, but git does not have it.", "gs repo sync"},
		"operation": {func(b *Branch) { b.Worktree = &Worktree{Name: "w", Operation: "rebase", Current: true} }, Blocked, "b is in the middle of a rebase in worktree w.", "gs rebase continue"},
		"operation elsewhere": {
			func(b *Branch) { b.Worktree = &Worktree{Name: "w", Operation: "merge", Path: "/w x"} }, Blocked,
			"b is in the middle of a merge in worktree w.", "cd '/w x' && git merge --continue",
		},
		"restack elsewhere": {
			func(b *Branch) {
				b.NeedsRestack, b.Source, b.Worktree = new(true), "twig", &Worktree{Name: "w", Path: "/w"}
			}, Blocked,
			"b needs a restack, because a has moved.", "cd /w && git rebase a b",
		},
		"push elsewhere": {
			func(b *Branch) {
				b.Unpushed, b.Source, b.Worktree = new(1), "git-town", &Worktree{Name: "w", Path: "/w"}
			}, Blocked,
			"b has 1 unpushed commit.", "cd /w && git town sync --stack",
		},
		"plain push elsewhere": {
			func(b *Branch) { b.Unpushed, b.Source, b.Worktree = new(1), "twig", &Worktree{Name: "w", Path: "/w"} }, Blocked,
			"b has 1 unpushed commit.", "git push origin b",
		},
		"merged":   {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.State = "merged" }) }, Blocked, "b (#7) is merged, but is still part of the stack.", "gs repo sync"},
		"closed":   {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.State = "closed" }) }, Blocked, "b (#7) was closed without a merge.", "gh pr reopen 7"},
		"restack":  {func(b *Branch) { b.NeedsRestack = new(true) }, Blocked, "b needs a restack, because a has moved.", "gs upstack restack --branch b"},
		"adopted":  {func(b *Branch) { b.NeedsRestack, b.Source, b.Manager = new(true), "twig", "git-spice" }, Blocked, "b needs a restack, because a has moved.", "gs upstack restack --branch b"},
		"behind":   {func(b *Branch) { b.NeedsRestack, b.Behind, b.Source = nil, new(2), "upstream" }, Blocked, "b is 2 commits behind a.", "git rebase a b"},
		"conflict": {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.Mergeable = new(false) }) }, Blocked, "b (#7) conflicts with a.", "gs upstack restack --branch b"},
		"changes": {func(b *Branch) {
			b.PullRequest = open(func(p *PullRequest) { p.ReviewDecision = pullrequest.ChangesRequested })
		}, Blocked, "b (#7): a reviewer requested changes.", "gs branch checkout b"},
		"checks": {func(b *Branch) {
			b.PullRequest = open(func(p *PullRequest) { p.Checks, p.Failing, p.FailingMore = "failing", []string{"x", "y\u202e"}, 1 })
		}, Blocked, `b (#7): 3 failing checks: x, "y\u202e" and 1 more.`, "gs branch checkout b"},
		"unread checks": {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.Checks = "failing" }) }, Blocked,
			"b (#7): failing checks, which copse did not read because there are too many.", "gs branch checkout b"},
		"threads":  {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.UnresolvedThreads = new(1) }) }, Blocked, "b (#7): 1 unresolved review thread.", "gh pr view 7 --comments"},
		"draft":    {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.Draft = true }) }, Blocked, "b (#7) is a draft.", "gs branch submit --branch b --no-draft"},
		"unpushed": {func(b *Branch) { b.Unpushed = new(1) }, Blocked, "b has 1 unpushed commit.", "gs branch submit --branch b"},
		"no pull":  {func(b *Branch) { b.PullRequest = PullRequest{State: PullNone} }, Blocked, "b has no pull request.", "gs branch submit --branch b"},
		"unknown":  {func(b *Branch) { b.PullRequest = PullRequest{State: PullUnknown} }, Unknown, "b: copse has not asked GitHub whether it has a pull request.", ""},
		"failed":   {func(b *Branch) { b.PullRequest = PullRequest{State: PullFailed} }, Unknown, "b: GitHub has not reported whether it has a pull request.", ""},
		"review": {func(b *Branch) {
			b.PullRequest = open(func(p *PullRequest) { p.ReviewDecision = pullrequest.ReviewRequired })
		}, Waiting, "b (#7) waits for a review.", "gh pr view 7 --web"},
		"pending": {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.Checks = "pending" }) }, Waiting, "b (#7) waits for checks.", "gh pr checks 7 --watch"},
		"queue": {func(b *Branch) {
			b.PullRequest = open(func(p *PullRequest) { p.MergeQueue = &pullrequest.QueueEntry{Position: 2} })
		}, Waiting, "b (#7) is in the merge queue, at position 2.", ""},
		"no answer": {func(b *Branch) { b.PullRequest = open(func(p *PullRequest) { p.Mergeable = nil }) }, Unknown, "b (#7): GitHub does not say yet whether it can be merged.", "gh pr view 7 --web"},
	} {
		s := Status{Trunk: "main", Branches: []Branch{pushed(tt.change)}}
		s.Conclude()
		if s.Verdict != tt.outcome || s.Blocker != tt.blocker || s.Next != tt.next {
			t.Errorf("%s: got %s, %q, %q; want %s, %q, %q", name, s.Verdict, s.Blocker, s.Next, tt.outcome, tt.blocker, tt.next)
		}
	}
}

// Without a stack tool, the next step forces a push only if the remote branch has other commits.
func TestNextPushes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*Branch)
		want   string
	}{
		"never pushed": {func(b *Branch) { b.Remote = "" }, "git push -u origin b"},
		"new commits":  {nil, "git push origin b"},
		"other remote": {func(b *Branch) { b.Remote = "fork/b" }, "git push fork b"},
		"rewritten":    {func(b *Branch) { b.Unpulled = 1 }, "git push --force-with-lease origin b"},
	} {
		for _, state := range []PullRequest{{State: PullNone}, {State: PullUnknown}, open(nil)} {
			b := pushed(func(b *Branch) { b.Source, b.Unpushed, b.PullRequest = "twig", new(1), state })
			if tt.change != nil {
				tt.change(&b)
			}
			s := Status{Trunk: "main", Branches: []Branch{b}}
			if s.Conclude(); s.Next != tt.want {
				t.Errorf("%s, pull request %s: got %q, want %q", name, state.State, s.Next, tt.want)
			}
		}
	}
}

// The first blocker decides, and precedes what waits below it.
func TestJudgeFromTheBottom(t *testing.T) {
	t.Parallel()
	waits := pushed(func(b *Branch) {
		b.Branch, b.PullRequest = "waits", open(func(p *PullRequest) { p.Checks = "pending" })
	})
	first := pushed(func(b *Branch) { b.Branch, b.Unpushed, b.Source = "first", new(2), "graphite" })
	second := pushed(func(b *Branch) { b.Branch, b.Missing = "second", true })
	s := Status{Trunk: "main", Branches: []Branch{pushed(nil), waits, first, second}}
	s.Conclude()
	if s.Verdict != Blocked || !strings.HasPrefix(s.Blocker, "first has") || s.Tool != "graphite" || s.Next != "gt submit --branch first" {
		t.Errorf("got %+v", s)
	}
	s = Status{Branches: []Branch{pushed(nil), waits}}
	if s.Conclude(); s.Verdict != Waiting {
		t.Errorf("got %+v", s)
	}
}

// Whatever a branch is called, the next step is one command about it, or none.
func TestNextQuotes(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"feat/a":         "gs branch checkout feat/a",
		"x;touch${IFS}y": "gs branch checkout 'x;touch${IFS}y'",
		"it's":           `gs branch checkout 'it'\''s'`,
		"{parent}":       "gs branch checkout '{parent}'",
		"a\u202eb":       "",
		"$(x)`y`":        "gs branch checkout '$(x)`y`'",
		"--exec=./x":     "",
		"-":              "",
		"+main":          "",
	} {
		b := pushed(func(b *Branch) { b.Branch = name })
		if got := b.Next(nextstep.Work, "main"); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
	// No action has a command that a name changes.
	for a := nextstep.Resume; a <= nextstep.Track; a++ {
		for _, tool := range []string{"", "git-spice", "graphite", "git-town", "git-machete", "gh-stack", "twig"} {
			for _, bad := range []nextstep.Branch{
				{Name: "--exec=./x", Parent: "main", Remote: "origin"}, {Name: "a", Parent: "--exec=./x", Remote: "origin"},
				{Name: "a", Parent: "main", Remote: "--exec=./x"}, {Name: "a", Parent: "main", Remote: "ext::./x --exec"}, {Name: "+a--exec", Parent: "main", Remote: "o"},
			} {
				bad.Tool, bad.Trunk, bad.Operation, bad.Number = tool, "main", "rebase", 1
				if got := nextstep.Command(a, bad); strings.Contains(got, "--exec") {
					t.Errorf("action %d of %q: %s", a, tool, got)
				}
			}
		}
	}
	moved := pushed(func(b *Branch) { b.Source, b.StackedOn = "twig", strings.Repeat("a", 40) })
	if got, want := moved.Next(nextstep.Restack, "main"), "git rebase --onto a "+moved.StackedOn+" b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Five branches take at most 2 KB, and fifty at most 10 KB, with everything known.
func TestFit(t *testing.T) {
	t.Parallel()
	full := func(name string) Branch {
		return pushed(func(b *Branch) {
			b.Branch, b.Parent, b.Remote = name, "team/feature-with-a-name", "origin/"+name
			b.Worktree = &Worktree{Name: "feature", Dirty: new(12), Operation: "rebase"}
			b.Items, b.Jira = []Item{{ID: 12, Status: "in-progress"}}, &Issue{Key: "PROJ-1", Status: "In Review"}
			b.PullRequest = open(func(p *PullRequest) {
				p.Checks, p.AutoMerge = "failing", "squash"
				for range 100 {
					p.Failing = append(p.Failing, strings.Repeat("check ", 20))
				}
			})
		})
	}
	for n, budget := range map[int]int{5: 2 << 10, 50: 10 << 10} {
		s := Status{Trunk: "main", Total: n + 7}
		for i := range 9 {
			s.Notes = append(s.Notes, strings.Repeat("note ", 100))
			s.Conflicts = append(s.Conflicts, Conflict{Branches: [2]string{"main", strconv.Itoa(i)}, Files: []string{"a", "b", "c", "d", "e", "f"}})
		}
		for range n {
			s.Branches = append(s.Branches, full("team/feature"))
		}
		s.Conclude()
		got := s.Fit()
		if size := page.Size(got); size > budget || size < budget/2 {
			t.Errorf("%d branches take %d bytes", n, size)
		}
		if first := got.Branches[0].PullRequest; len(first.Failing)+first.FailingMore != 100 {
			t.Errorf("%d of 100 failing checks are accounted for", len(first.Failing)+first.FailingMore)
		}
		if n > len(got.Branches) && !strings.Contains(got.Showing, fmt.Sprintf("%d of %d branches", len(got.Branches), s.Total)) {
			t.Errorf("it has %d of %d branches, and says: %q", len(got.Branches), s.Total, got.Showing)
		}
		if len(got.Conflicts)+got.MoreConflicts != 9 {
			t.Errorf("%d of 9 conflicts are accounted for", len(got.Conflicts)+got.MoreConflicts)
		}
		for _, c := range got.Conflicts {
			if len(c.Files)+c.MoreFiles != 6 {
				t.Errorf("%d of 6 files are accounted for", len(c.Files)+c.MoreFiles)
			}
		}
		if got.Notes[3] != "6 more notes" {
			t.Errorf("notes: %q", got.Notes)
		}
	}
}
