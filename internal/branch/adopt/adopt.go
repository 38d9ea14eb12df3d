// Package adopt proposes parents and links for branches that have none: parents from how the
// branches grew, Jira keys from names and commits, and pull requests by their head branch. Each
// proposal has a reason.
//
// [Propose] takes all known data ([Known]) and reads nothing else. It proposes nothing for a trunk,
// nothing that is already declared, and no cycle.
package adopt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/distinct"
	"github.com/copse-dev/copse/internal/git/history"
)

// Known is the input of the proposals.
type Known struct {
	State *twig.State
	// Root is the parent of a branch that grew from no other branch; it is one of Roots.
	Root  string
	Roots []string
	// History has the commits that no root has.
	History history.Branches
	// Logs are the reflogs of the branches.
	Logs map[string]history.Log
	// Outside are those of the commits where branches began, or to which they were rebased, that no
	// root has.
	Outside map[string]bool
	// Contained reports whether the default root contains the changes of a branch, though not its
	// commits.
	Contained func(branch string) bool
	// PullRequests are the repository's pull requests, best last: of two with the same head branch,
	// the last one is used.
	PullRequests []PullRequest
	// Said are parents, by branch, that the user chose. They need no evidence and are not checked.
	Said map[string]string
	// Recorded are the records of other tools about the branches, nil for none.
	Recorded *twig.State
	// Only are the branches to make proposals for; all examined ones if it is empty.
	Only []string
	// Examined are the branches to compare with each other, from [Examined]; all if it is empty.
	Examined []string
}

// PullRequest is a pull request of a branch.
type PullRequest struct {
	Number     uint32
	Head, Base string
	HeadCommit string
	Open       bool
	Merged     bool
}

// Proposal is the proposal for one branch; empty fields propose nothing.
type Proposal struct {
	Branch string `json:"branch"`
	Parent *Fact  `json:"parent,omitempty"`
	Jira   *Fact  `json:"jira_issue,omitempty"`
	PR     *Fact  `json:"pr_number,omitempty"`
}

// Fact is a value and its evidence.
type Fact struct {
	Value    string `json:"value"`
	Evidence string `json:"evidence"`
}

// Said is the evidence of a user's choice.
const Said = "named with --parent"

// Propose makes proposals, sorted by branch.
func Propose(k Known) []Proposal {
	names := k.Only
	if len(names) == 0 {
		names = k.examined()
	}
	names = slices.Sorted(slices.Values(names))
	f := newForest(k)
	byHead := make(map[string]PullRequest, len(k.PullRequests))
	for _, pr := range k.PullRequests {
		byHead[pr.Head] = pr
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		_, exists := k.History.Tips[name]
		return !exists || slices.Contains(k.Roots, name)
	})
	parents := f.parents(names, byHead)
	var proposals []Proposal
	for _, name := range names {
		p := Proposal{Branch: name, Parent: parents[name]}
		parent, declared := k.State.Parent(name)
		if !declared && p.Parent != nil {
			parent = p.Parent.Value
		}
		linked := k.State.Branches[name]
		if linked.JiraIssue == "" {
			p.Jira = issue(name, f.own(name, parent))
		}
		if pr, ok := byHead[name]; ok && linked.GitHubPR == 0 {
			p.PR = number(pr, f.reach(name))
		}
		if p.PR == nil && linked.GitHubPR == 0 {
			p.PR = k.recordedNumber(name)
		}
		if p.Parent != nil || p.Jira != nil || p.PR != nil {
			proposals = append(proposals, p)
		}
	}
	return proposals
}

// recordedNumber returns the pull request that another tool records for a branch.
func (k Known) recordedNumber(name string) *Fact {
	if k.Recorded == nil || k.Recorded.Branches[name].GitHubPR == 0 {
		return nil
	}
	return &Fact{Value: fmt.Sprint(k.Recorded.Branches[name].GitHubPR), Evidence: "a stack tool records it"}
}

// byRecord returns the parent that another tool records.
func (f *forest) byRecord(name string, _ PullRequest) (parent, why string) {
	if f.k.Recorded == nil {
		return "", ""
	}
	parent, ok := f.k.Recorded.Parent(name)
	if !ok {
		return "", ""
	}
	return parent, f.k.Recorded.Metadata(name).Source + " records it"
}

func number(pr PullRequest, has map[string]bool) *Fact {
	why := "its head branch has this name"
	if has[pr.HeadCommit] {
		why += " and its last commit is here"
	}
	switch {
	case pr.Merged:
		why += "; it is merged"
	case !pr.Open:
		why += "; it is closed"
	}
	return &Fact{Value: fmt.Sprint(pr.Number), Evidence: why}
}

// forest is the branches and their growth.
type forest struct {
	roots   *distinct.List[string]
	k       Known
	reached map[string]map[string]bool // by branch: its commits that no root has
	holders map[string][]string        // by commit: the branches that have it, roots left out
	above   map[string][]string        // by branch: its parents, declared and proposed
	began   map[string]beginning       // by branch
	merged  map[string]bool            // by branch: whether a root has all of it
	held    map[string][]string        // by commit: the branches that had it as their tip
	names   []string
}

// beginning is the branch on which another was created or rebased, and the evidence. It is never a
// root.
type beginning struct{ parent, why string }

func newForest(k Known) *forest {
	f := &forest{
		k: k, reached: make(map[string]map[string]bool), holders: make(map[string][]string), above: make(map[string][]string),
		began: make(map[string]beginning, len(k.History.Tips)), merged: make(map[string]bool), held: make(map[string][]string),
	}
	f.names, f.roots = slices.Sorted(slices.Values(k.examined())), distinct.Of(k.Roots...)
	for _, d := range k.State.Dependencies {
		f.above[d.Child] = append(f.above[d.Child], d.Parent)
	}
	for _, name := range f.names {
		if !f.roots.Has(name) {
			for hash := range f.reach(name) {
				f.holders[hash] = append(f.holders[hash], name)
			}
		}
	}
	for _, name := range f.names {
		for hash := range k.Logs[name].Held {
			f.held[hash] = append(f.held[hash], name)
		}
	}
	for _, name := range f.names {
		f.began[name] = f.begin(name)
	}
	return f
}

// reach returns the commits of a branch that no root has.
func (f *forest) reach(name string) map[string]bool {
	if found, ok := f.reached[name]; ok {
		return found
	}
	found := reach(f.k.History, name)
	f.reached[name] = found
	return found
}

// own returns the commits of a branch that its parent does not have.
func (f *forest) own(name, parent string) []history.Commit {
	of := f.reach(parent)
	var own []history.Commit
	for hash := range f.reach(name) {
		if !of[hash] {
			own = append(own, f.k.History.Commits[hash])
		}
	}
	return own
}

// parents proposes parents for those of names that have none. It applies evidence of one kind to
// all branches before evidence of the next kind: commits that suggest a parent for one branch must
// not block what a pull request states about another.
func (f *forest) parents(names []string, byHead map[string]PullRequest) map[string]*Fact {
	found := make(map[string]*Fact)
	for name, parent := range f.k.Said {
		f.above[name] = append(f.above[name], parent)
		found[name] = &Fact{Value: parent, Evidence: Said}
	}
	certain := maps.Clone(found) // ancestors that need no further search
	for i, find := range []func(string, PullRequest) (string, string){f.byRecord, f.byPullRequest, f.byBeginning, f.byCommits, f.byRoot} {
		for _, name := range names {
			if _, declared := f.k.State.Parent(name); declared || found[name] != nil {
				continue
			}
			if parent, why := find(name, byHead[name]); parent != "" && f.fits(name, parent) {
				f.above[name] = append(f.above[name], parent)
				found[name] = &Fact{Value: parent, Evidence: why}
				if i <= 1 {
					certain[name] = found[name]
				}
			}
		}
	}
	for _, name := range names {
		if fact := found[name]; fact != nil && certain[name] == nil {
			f.pass(fact, name)
		}
	}
	for name, fact := range found {
		if f.merged[name] && len(f.reach(name)) > 0 { // known if it was a parent
			fact.Evidence += "; a trunk has its changes"
		}
	}
	return found
}

// pass replaces a proposed parent that is merged with its own parent, and so on.
func (f *forest) pass(fact *Fact, name string) {
	met := map[string]bool{name: true}
	for at := fact.Value; !met[at] && f.isMerged(at); {
		met[at] = true
		next := f.k.Root
		if above := f.above[at]; len(above) > 0 {
			next = above[0]
		}
		if !f.fits(name, next) {
			return
		}
		fact.Value, fact.Evidence = next, fmt.Sprintf("%s, on which it was created, is merged", at)
		at = next
	}
}

// isMerged reports whether the roots contain all work of a branch. A branch without commits of its
// own is not merged.
func (f *forest) isMerged(name string) bool {
	if slices.Contains(f.k.Roots, name) {
		return false
	}
	merged, known := f.merged[name]
	if !known {
		if len(f.reach(name)) > 0 {
			merged = f.k.Contained != nil && f.k.Contained(name)
		} else {
			merged = f.k.Logs[name].Held[f.k.History.Tips[name]]
		}
		f.merged[name] = merged
	}
	return merged
}

// fits reports whether parent is another branch that is not stacked on name.
func (f *forest) fits(name, parent string) bool {
	if _, exists := f.k.History.Tips[parent]; !exists {
		return false
	}
	seen := map[string]bool{parent: true}
	for next := []string{parent}; len(next) > 0; next = next[1:] {
		if next[0] == name {
			return false
		}
		for _, p := range f.above[next[0]] {
			if !seen[p] {
				seen[p] = true
				next = append(next, p)
			}
		}
	}
	return true
}

func (f *forest) byPullRequest(_ string, pr PullRequest) (parent, why string) {
	if !pr.Open {
		return "", "" // a merged base is weak evidence
	}
	return pr.Base, fmt.Sprintf("base of pull request #%d", pr.Number)
}

// byBeginning looks for the place where git recorded the creation of the branch. If that is a root,
// it is weaker evidence than the present commits: the branch may have moved since.
func (f *forest) byBeginning(name string, _ PullRequest) (parent, why string) {
	return f.began[name].parent, f.began[name].why
}

// begin returns the beginning in the reflog of a branch: the target of the last rebase, or else the
// place of its creation.
func (f *forest) begin(name string) beginning {
	log := f.k.Logs[name]
	for _, onto := range log.Onto {
		if log.Held[onto] {
			continue // a rebase within the branch
		}
		if !f.k.Outside[onto] {
			return beginning{} // onto a root, or onto something that git no longer has
		}
		if parent := f.holder(name, onto); parent != "" {
			return beginning{parent, "reflog: rebased onto this branch"}
		}
	}
	if log.Commit == "" {
		return beginning{}
	}
	if from := f.local(log.From); from != "" && from != name && !slices.Contains(f.k.Roots, from) && f.had(from, log.Commit) {
		return beginning{from, "reflog: created from this branch"}
	}
	if f.k.Outside[log.Commit] {
		if parent := f.holder(name, log.Commit); parent != "" {
			return beginning{parent, "reflog: created at this branch's tip"}
		}
	}
	return beginning{}
}

// had reports whether a branch is known to have had a commit as its tip.
func (f *forest) had(branch, commit string) bool {
	held := f.k.Logs[branch].Held
	_, found := held[commit]
	return found || len(held) == 0
}

// holder returns the one branch besides name that had a commit as its tip, roots left out.
func (f *forest) holder(name, commit string) string {
	others := slices.DeleteFunc(slices.Clone(f.held[commit]), f.roots.Has)
	return history.Holder(name, commit, others, func(branch string) history.Log { return f.k.Logs[branch] })
}

// local returns the local branch for a name, including the name of a remote's branch; "" if there
// is none.
func (f *forest) local(name string) string {
	if _, exists := f.k.History.Tips[name]; exists {
		return name
	}
	_, rest, _ := strings.Cut(name, "/")
	if _, exists := f.k.History.Tips[rest]; exists {
		return rest
	}
	return ""
}

// byCommits looks for the branch that shares the most commits that no root has.
func (f *forest) byCommits(name string, _ PullRequest) (parent, why string) {
	mine := f.reach(name)
	common := make(map[string]int) // by branch: how many commits of mine it has
	for hash := range mine {
		for _, other := range f.holders[hash] {
			common[other]++
		}
	}
	best, shared := "", 0
	for other, n := range common {
		theirs, lead := f.reach(other), f.reach(best)
		// Of two branches, the one with fewer commits is older; if both have the same number, the
		// name decides.
		first := len(theirs) < len(mine) || len(theirs) == len(mine) && other < name
		better := n > shared || n == shared && (len(theirs) < len(lead) || len(theirs) == len(lead) && other < best)
		if !first || !better || !f.fits(name, other) {
			continue
		}
		if of, _ := f.byBeginning(other, PullRequest{}); of == name {
			continue // wherever it is now, it began here
		}
		best, shared = other, n
	}
	switch {
	case best == "":
		return "", ""
	case shared == len(f.reach(best)) && shared == len(mine):
		return best, "has the same commits"
	case shared == len(f.reach(best)):
		return best, fmt.Sprintf("contains all of its commits, and %s more", cleantext.Count(len(mine)-shared, "commit"))
	}
	return best, fmt.Sprintf("both have %s that no trunk has", cleantext.Count(shared, "commit"))
}

// byRoot returns the root on which the branch was created, or else the default root.
func (f *forest) byRoot(name string, _ PullRequest) (parent, why string) {
	if from := f.local(f.k.Logs[name].From); slices.Contains(f.k.Roots, from) {
		return from, "reflog: created from this branch"
	}
	if n := len(f.reach(name)); n > 0 {
		return f.k.Root, fmt.Sprintf("no branch below it; %s that no trunk has", cleantext.Count(n, "commit"))
	}
	return f.k.Root, "it has no commit that the trunks lack"
}

// issue proposes a Jira issue: the key in the branch's name, or else the key that most of its own
// commits name.
func issue(name string, own []history.Commit) *Fact {
	counts := make(map[string]int)
	for _, c := range own {
		for key := range keysIn(c.Message) {
			counts[key]++
		}
	}
	if key := keyOf(name); key != "" {
		why := "in the branch name"
		switch n := counts[key]; {
		case n == 1 && len(own) == 1:
			why += " and its only commit"
		case n > 0:
			why += fmt.Sprintf(" and %d of its %s", n, cleantext.Count(len(own), "commit"))
		}
		return &Fact{Value: key, Evidence: why}
	}
	best := ""
	for key, n := range counts {
		if n > counts[best] || n == counts[best] && strings.Compare(key, best) < 0 {
			best = key
		}
	}
	if best == "" {
		return nil
	}
	if len(own) == 1 {
		return &Fact{Value: best, Evidence: "in its only commit"}
	}
	return &Fact{Value: best, Evidence: fmt.Sprintf("in %d of its %s", counts[best], cleantext.Count(len(own), "commit"))}
}
