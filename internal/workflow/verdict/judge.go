package verdict

import (
	"cmp"
	"slices"
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
// work on, or else the first that waits, or else the first with an unknown state. It leaves out
// branches on which others work; aside is the obstacle of the first of them that has one.
func judge(branches []Branch, trunk string) (first finding, about *Branch, aside finding) {
	rank := map[Outcome]int{Ready: 0, Unknown: 1, Waiting: 2, Blocked: 3}
	first.outcome, aside.outcome = Ready, Ready
	theirs := others(branches)
	for i := range branches {
		b := &branches[i]
		found, of := b.judge(trunk), b
		if theirs[b.Branch] {
			if found.outcome == Blocked && aside.outcome == Ready {
				aside = found
			}
			continue
		}
		if b.merged() {
			found.action, of = tidy(branches, b, theirs)
		}
		if rank[found.outcome] > rank[first.outcome] {
			first, about = found, of
		}
		if found.outcome == Blocked {
			break
		}
	}
	return first, about, aside
}

// others returns the branches on which somebody else works, from the point of view of the current
// branch: another worktree has them or claims their item, and the current branch is not stacked on
// them.
func others(branches []Branch) map[string]bool {
	at := slices.IndexFunc(branches, func(b Branch) bool { return b.Current })
	if at < 0 {
		return nil
	}
	parents := make(map[string]string, len(branches))
	theirs := make(map[string]bool)
	for _, b := range branches {
		parents[b.Branch] = b.Parent
		theirs[b.Branch] = b.Claimed || b.Worktree != nil && !b.Worktree.Current
	}
	below := branches[at].Branch
	for range branches { // at most so many are below it
		delete(theirs, below)
		below = parents[below]
	}
	return theirs
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
	switch {
	case b.Unborn:
		return blocked(nextstep.None, b.named().Own(" has no commit yet.")), true
	case b.merged() && b.PullRequest.known():
		return blocked(nextstep.Delete, b.pulled(b.PullRequest).Own(" is merged, but is still part of the stack.")), true
	case b.merged():
		return blocked(nextstep.Delete, b.named().Own(" is merged, but is still part of the stack: ").Name(b.Merged).Own(".")), true
	case b.Parent == trunk || b.Parent == "" || b.ended():
		return finding{}, false
	}
	return b.moved()
}

// merged reports whether the trunk has the changes of the branch. GitHub knows better if the pull
// request is open.
func (b *Branch) merged() bool {
	return !b.Missing && b.Merged != "" && b.PullRequest.State != string(pullrequest.Open)
}

// tidy returns the action that a merged branch needs, and the branch that it is about: a branch that
// was stacked on it moves to the trunk first, because its own commits are those after the merged
// branch.
func tidy(branches []Branch, merged *Branch, theirs map[string]bool) (nextstep.Action, *Branch) {
	// These tools ask GitHub, or need no answer.
	known := nextstep.Knows(merged.tool(), nextstep.Tidy) && merged.tool() != "twig" && (merged.PullRequest.known() || merged.tool() == machete)
	for i := range branches {
		child := &branches[i]
		if child.Parent != merged.Branch {
			continue
		}
		own := child.tool() == "twig"
		switch {
		case theirs[child.Branch] && child.OnMerged != nil:
			return nextstep.None, merged // they need it to move their branch
		case known && !nextstep.Knows(child.tool(), nextstep.Lift):
			return nextstep.Tidy, merged
		case child.OnMerged != nil && (child.OnMerged.Holds || !own):
			return nextstep.Lift, child
		case own:
			return nextstep.Tidy, child
		}
	}
	if known {
		return nextstep.Tidy, merged
	}
	return nextstep.Delete, merged
}

// machete is a tool whose own command takes a branch out of a stack.
const machete = "git-machete"

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
	case b.AboveMerged:
		return blocked(nextstep.Restack, b.named().Own(" needs a restack: the trunk has the changes of the commits below it.")), true
	case b.NeedsRestack != nil && *b.NeedsRestack:
		return blocked(nextstep.Restack, b.named().Own(" needs a restack, because ").Name(b.Parent).Own(" has moved.")), true
	case b.NeedsRestack == nil && b.Parent != "" && b.Behind != nil && *b.Behind > 0:
		return blocked(nextstep.Restack, b.named().Own(" is ").Add(commits(*b.Behind)).Own(" behind ").Name(b.Parent).Own(".")), true
	}
	return finding{}, false
}

// withoutPull judges a branch without a known pull request.
func (b *Branch) withoutPull(trunk string) finding {
	if b.Parent == trunk || b.AboveMerged {
		if found, ok := b.moved(); ok && b.NeedsRestack != nil {
			return found
		}
	}
	switch {
	case b.PullRequest.State == PullNone && b.Unpushed != nil && *b.Unpushed > 0:
		return blocked(nextstep.Submit, b.named().Own(" has no pull request, and ").Count(*b.Unpushed, "unpushed commit").Own("."))
	case b.PullRequest.State == PullNone:
		return blocked(nextstep.Propose, b.named().Own(" has no pull request."))
	}
	if found, ok := b.withoutGitHub(trunk); ok {
		return found
	}
	switch {
	case b.Unpushed != nil && *b.Unpushed > 0:
		return blocked(nextstep.Push, b.named().Own(" has ").Count(*b.Unpushed, "unpushed commit").Own("."))
	case b.PullRequest.State == PullAbsent:
		return finding{outcome: Ready}
	case b.PullRequest.State == PullUnknown:
		return finding{Unknown, b.named().Own(": copse has not asked GitHub whether it has a pull request."), nextstep.None}
	}
	return finding{Unknown, b.named().Own(": GitHub has not reported whether it has a pull request."), nextstep.None}
}

// withoutGitHub returns the obstacle to a merge of the lowest branch into the trunk, if git alone
// decides about it.
func (b *Branch) withoutGitHub(trunk string) (finding, bool) {
	switch {
	case b.PullRequest.State != PullAbsent || b.Parent != trunk && b.Parent != "":
		return finding{}, false
	case b.TrunkConflict != nil:
		text := b.named().Own(" conflicts with ").Name(trunk)
		if files := b.TrunkConflict.Files; len(files) > 0 {
			text = text.Own(" in ").Name(files[0])
			if more := len(files) - 1 + b.TrunkConflict.MoreFiles; more > 0 {
				text = text.Own(" and ").Count(more, "more file")
			}
		}
		return blocked(nextstep.Restack, text.Own(".")), true
	case b.Behind != nil && *b.Behind > 0:
		return blocked(nextstep.Restack, b.named().Own(" is ").Add(commits(*b.Behind)).Own(" behind ").Name(trunk).Own(".")), true
	}
	return finding{}, false
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
	if (b.Parent == trunk || b.AboveMerged) && b.NeedsRestack != nil {
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
	return nextstep.Command(a, b.step(a, trunk))
}

// step describes the branch for an action.
func (b *Branch) step(a nextstep.Action, trunk string) nextstep.Branch {
	remote, _, _ := strings.Cut(b.Remote, "/")
	about := nextstep.Branch{
		Name: b.Branch, Parent: b.Parent, Trunk: trunk, Tool: b.tool(), Base: b.StackedOn, Remote: remote, Diverged: b.Unpulled > 0,
		Number: b.PullRequest.Number, Current: b.Current,
	}
	if w := b.Worktree; w != nil {
		about.Operation = w.Operation
		if !w.Current {
			about.Elsewhere = w.Path
		}
	}
	if a == nextstep.Lift {
		about.Parent, about.Base = trunk, ""
		if b.OnMerged.Holds {
			about.Base = cmp.Or(b.StackedOn, b.Parent)
		}
	}
	if w := cmp.Or(b.Worktree, b.Here); w != nil {
		about.Tracked, about.Conflicted, about.InConflict = w.Tracked, w.Conflicted, w.InConflict
	}
	return about
}

// Of describes a branch of a stack in isolation, in one sentence if it is not ready.
func (s Status) Of(b Branch) (Outcome, string) {
	found := b.judge(s.Trunk)
	return found.outcome, found.text.Plain()
}

// Blocking returns the branch that the verdict is about, "" for none.
func (s Status) Blocking() string {
	found, about, _ := judge(s.Branches, s.Trunk)
	if about == nil || found.outcome == Ready {
		return ""
	}
	return about.Branch
}

// Conclude fills in the verdict, the blocker, and the next step from the facts about the branches.
func (s *Status) Conclude() {
	found, about, aside := judge(s.Branches, s.Trunk)
	if aside.outcome == Blocked {
		s.Notes = append(slices.Clip(s.Notes), "In another worktree: "+aside.text.Message())
	}
	if len(s.Branches) == 0 {
		found = finding{outcome: Ready, text: foreign.Own("No branch is stacked on ").Name(s.Trunk).Own(".")}
	}
	s.Verdict, s.line, s.Blocker = found.outcome, found.text, found.text.Plain()
	if len(s.Branches) == 0 {
		return
	}
	if about == nil {
		about, found.action = &s.Branches[0], nextstep.Merge
		if s.GitHub.State == PullAbsent {
			s.line = foreign.Own("Git shows nothing that blocks it.")
			s.Blocker = s.line.Plain()
		}
	}
	step := about.step(found.action, s.Trunk)
	if s.Tool, s.Next = about.tool(), nextstep.Command(found.action, step); s.Next != "" {
		s.First = nextstep.First(found.action, step)
	}
}
