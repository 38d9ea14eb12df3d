package verdict

import (
	"cmp"
	"strings"

	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/workflow/verdict/nextstep"
)

// finding is the obstacle of a branch.
type finding struct {
	outcome Outcome
	text    foreign.Line
	action  nextstep.Action
}

// judge returns the obstacle of the stack, from the bottom: the first branch that somebody has to
// work on, or else the first that waits, or else the first with an unknown state.
func judge(branches []Branch, trunk string) (finding, *Branch) {
	var first finding
	var about *Branch
	rank := map[Outcome]int{Ready: 0, Unknown: 1, Waiting: 2, Blocked: 3}
	first.outcome = Ready
	for i := range branches {
		b := &branches[i]
		found := b.judge(trunk)
		if rank[found.outcome] > rank[first.outcome] {
			first, about = found, b
		}
		if found.outcome == Blocked {
			break
		}
	}
	return first, about
}

// judge returns the obstacle of a branch.
func (b *Branch) judge(trunk string) finding {
	if found, ok := b.local(trunk); ok {
		return found
	}
	pr := b.PullRequest
	if !pr.known() {
		return b.withoutPull(trunk)
	}
	if found, ok := b.ofPull(pr, trunk); ok {
		return found
	}
	if b.Unpushed != nil && *b.Unpushed > 0 {
		return blocked(nextstep.Push, b.named().Own(" has ").Count(*b.Unpushed, "unpushed commit").Own("."))
	}
	return b.waiting(pr)
}

// local returns the obstacle that git alone shows.
func (b *Branch) local(trunk string) (finding, bool) {
	switch {
	case b.Missing:
		return blocked(nextstep.Tidy, b.named().Own(" is recorded, but git does not have it.")), true
	case b.Worktree != nil && b.Worktree.Operation != "":
		return blocked(nextstep.Resume, b.named().Own(" is in the middle of a ").Name(b.Worktree.Operation).Own(" in worktree ").Name(b.Worktree.Name).Own(".")), true
	}
	if b.Parent == trunk || b.Parent == "" || b.ended() {
		return finding{}, false
	}
	return b.moved()
}

// known reports whether GitHub has identified the pull request.
func (p PullRequest) known() bool {
	return p.State == string(pullrequest.Open) || p.State == string(pullrequest.Closed) || p.State == PullMerged
}

// ended reports whether the pull request of the branch is merged or closed.
func (b *Branch) ended() bool {
	return b.PullRequest.known() && b.PullRequest.State != string(pullrequest.Open)
}

// moved reports that the parent has commits that the branch lacks.
func (b *Branch) moved() (finding, bool) {
	switch {
	case b.NeedsRestack != nil && *b.NeedsRestack:
		return blocked(nextstep.Restack, b.named().Own(" needs a restack, because ").Name(b.Parent).Own(" has moved.")), true
	case b.NeedsRestack == nil && b.Parent != "" && b.Behind != nil && *b.Behind > 0:
		return blocked(nextstep.Restack, b.named().Own(" is ").Add(commits(*b.Behind)).Own(" behind ").Name(b.Parent).Own(".")), true
	}
	return finding{}, false
}

// withoutPull judges a branch without a known pull request.
func (b *Branch) withoutPull(trunk string) finding {
	if b.Parent == trunk {
		if found, ok := b.moved(); ok && b.NeedsRestack != nil {
			return found
		}
	}
	switch {
	case b.PullRequest.State == PullNone && b.Unpushed != nil && *b.Unpushed > 0:
		return blocked(nextstep.Submit, b.named().Own(" has no pull request, and ").Count(*b.Unpushed, "unpushed commit").Own("."))
	case b.PullRequest.State == PullNone:
		return blocked(nextstep.Propose, b.named().Own(" has no pull request."))
	case b.Unpushed != nil && *b.Unpushed > 0:
		return blocked(nextstep.Push, b.named().Own(" has ").Count(*b.Unpushed, "unpushed commit").Own("."))
	case b.PullRequest.State == PullUnknown:
		return finding{Unknown, b.named().Own(": copse has not asked GitHub whether it has a pull request."), nextstep.None}
	}
	return finding{Unknown, b.named().Own(": GitHub has not reported whether it has a pull request."), nextstep.None}
}

// ofPull returns the action that a pull request needs.
func (b *Branch) ofPull(pr PullRequest, trunk string) (finding, bool) {
	name := b.pulled(pr)
	switch {
	case pr.State == PullMerged:
		return blocked(nextstep.Tidy, name.Own(" is merged, but is still part of the stack.")), true
	case pr.State != string(pullrequest.Open):
		return blocked(nextstep.Reopen, name.Own(" was closed without a merge.")), true
	case pr.Mergeable != nil && !*pr.Mergeable:
		return blocked(nextstep.Restack, name.Own(" conflicts with ").Name(b.onto(pr)).Own(".")), true
	case pr.ReviewDecision == pullrequest.ChangesRequested:
		return blocked(nextstep.Work, name.Own(": a reviewer requested changes.")), true
	case pr.Checks == pullrequest.ChecksFailing:
		return blocked(nextstep.Work, name.Own(": ").Add(failing(pr)).Own(".")), true
	case pr.UnresolvedThreads != nil && *pr.UnresolvedThreads > 0:
		return blocked(nextstep.Answer, name.Own(": ").Count(*pr.UnresolvedThreads, "unresolved review thread").Own(".")), true
	}
	if b.Parent == trunk && b.NeedsRestack != nil {
		if found, ok := b.moved(); ok {
			return found, true
		}
	}
	if pr.Draft {
		return blocked(nextstep.Publish, name.Own(" is a draft.")), true
	}
	return finding{}, false
}

// waiting returns what a pull request waits for without anybody's action.
func (b *Branch) waiting(pr PullRequest) finding {
	name := b.pulled(pr)
	switch {
	case pr.MergeQueue != nil:
		return finding{Waiting, name.Own(" is in the merge queue, at position ").Int(pr.MergeQueue.Position).Own("."), nextstep.None}
	case pr.ReviewDecision == pullrequest.ReviewRequired:
		return finding{Waiting, name.Own(" waits for a review."), nextstep.Look}
	case pr.Checks == pullrequest.ChecksPending:
		return finding{Waiting, name.Own(" waits for checks."), nextstep.Watch}
	case pr.AutoMerge != "":
		return finding{Waiting, name.Own(" waits for GitHub to merge it."), nextstep.Look}
	case pr.Waits && len(pr.Blockers) > 0:
		return finding{Waiting, name.Own(": ").Name(pr.Blockers[0]).Own("."), nextstep.Look}
	case pr.Checks == pullrequest.ChecksUnknown || pr.Mergeable == nil:
		return finding{Unknown, name.Own(": GitHub does not say yet whether it can be merged."), nextstep.Look}
	}
	return finding{outcome: Ready}
}

func blocked(a nextstep.Action, text foreign.Line) finding { return finding{Blocked, text, a} }

func (b *Branch) named() foreign.Line { return foreign.Name(b.Branch) }

func (b *Branch) pulled(pr PullRequest) foreign.Line {
	return b.named().Own(" (#").Int(pr.Number).Own(")")
}

// onto returns the branch that a pull request merges into.
func (b *Branch) onto(pr PullRequest) string {
	if pr.Base != "" {
		return pr.Base
	}
	if b.Parent != "" {
		return b.Parent
	}
	return "its base"
}

func commits(n int) foreign.Line { return foreign.Line{}.Count(n, "commit") }

// maxNamed is the number of failing checks that a sentence names.
const maxNamed = 2

func failing(pr PullRequest) foreign.Line {
	n := len(pr.Failing) + pr.FailingMore
	if n == 0 {
		return foreign.Own("failing checks, which copse did not read because there are too many")
	}
	line := foreign.Line{}.Count(n, "failing check").Own(": ")
	for i, name := range pr.Failing[:min(len(pr.Failing), maxNamed)] {
		if i > 0 {
			line = line.Own(", ")
		}
		line = line.Name(name)
	}
	if n > maxNamed {
		line = line.Own(" and ").Int(n - min(len(pr.Failing), maxNamed)).Own(" more")
	}
	return line
}

// tool returns the tool that manages the stack of the branch.
func (b *Branch) tool() string { return cmp.Or(b.Manager, b.Source) }

// Next returns the command of an action, "" if there is none that can be shown.
func (b *Branch) Next(a nextstep.Action, trunk string) string {
	remote, _, _ := strings.Cut(b.Remote, "/")
	about := nextstep.Branch{
		Name: b.Branch, Parent: b.Parent, Trunk: trunk, Tool: b.tool(), Base: b.StackedOn, Remote: remote, Diverged: b.Unpulled > 0,
		Number: b.PullRequest.Number,
	}
	if w := b.Worktree; w != nil {
		about.Operation = w.Operation
		if !w.Current {
			about.Elsewhere = w.Path
		}
	}
	return nextstep.Command(a, about)
}

// Of describes a branch of a stack in isolation, in one sentence if it is not ready.
func (s Status) Of(b Branch) (Outcome, string) {
	found := b.judge(s.Trunk)
	return found.outcome, found.text.Plain()
}

// Blocking returns the branch that the verdict is about, "" for none.
func (s Status) Blocking() string {
	found, about := judge(s.Branches, s.Trunk)
	if about == nil || found.outcome == Ready {
		return ""
	}
	return about.Branch
}

// Conclude fills in the verdict, the blocker, and the next step from the facts about the branches.
func (s *Status) Conclude() {
	found, about := judge(s.Branches, s.Trunk)
	if len(s.Branches) == 0 {
		found = finding{outcome: Ready, text: foreign.Own("No branch is stacked on ").Name(s.Trunk).Own(".")}
	}
	s.Verdict, s.line, s.Blocker = found.outcome, found.text, found.text.Plain()
	if len(s.Branches) == 0 {
		return
	}
	if about == nil {
		about, found.action = &s.Branches[0], nextstep.Merge
	}
	s.Tool, s.Next = about.tool(), about.Next(found.action, s.Trunk)
}
