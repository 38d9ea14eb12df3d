package verdict

import (
	"fmt"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/page"
)

const (
	// smallStack is the number of branches for smallBudget.
	smallStack  = 5
	smallBudget = 2<<10 - 192 // without what a surface puts around it, such as the path of the worktree
	// fewNames and nameLength limit the named failing checks if there are many.
	fewNames, nameLength = 2, 40
	// maxConflicts is the number of conflicts, and of the named files of each; fewConflicts always stay.
	maxConflicts = 5
	fewConflicts = 2
	maxNotes     = 3
)

// Fit cuts a status to its budget for a model: the names of files and failing checks first, then
// derived data, and last the branches at the top. The first conflicts stay. It states what it cut.
func (s Status) Fit() Status {
	budget := page.DefaultBudget
	if len(s.Branches) <= smallStack {
		budget = smallBudget
	}
	for _, cut := range []func(){
		func() {
			s.nameConflicts(maxConflicts)
			s.nameFiles(maxConflicts)
			if left := len(s.Notes) - maxNotes; left > 0 {
				s.Notes = append(s.Notes[:maxNotes:maxNotes], cleantext.Count(left, "more note"))
			}
		},
		func() { s.nameFiles(1) },
		func() { s.nameChecks(fewNames) },
		func() { s.nameChecks(0) },
		func() { s.nameConflicts(fewConflicts) },
		func() { s.shorten() },
	} {
		if cut(); page.Size(s) <= budget {
			return s
		}
	}
	for n := len(s.Branches) - 1; n > 0 && page.Size(s) > budget; n-- {
		s.Branches = s.Branches[:n]
		s.Showing = fmt.Sprintf("the lowest %d of %d branches; for others pass one of them as branch", n, s.Total)
	}
	return s
}

// nameConflicts leaves at most n conflicts, and names the tool for the others.
func (s *Status) nameConflicts(n int) {
	if left := len(s.Conflicts) - n; left > 0 {
		s.Conflicts, s.MoreConflicts = s.Conflicts[:n:n], s.MoreConflicts+left
	}
	if s.MoreConflicts > 0 || s.ConflictsUnknown != "" {
		s.ConflictsHint = "get_conflicts lists all"
	}
}

// nameFiles leaves at most n names of files for each conflict.
func (s Status) nameFiles(n int) {
	for i := range s.Conflicts {
		c := &s.Conflicts[i]
		files := c.Files[:min(n, len(c.Files))]
		c.MoreFiles += len(c.Files) - len(files)
		c.Files = files
	}
}

// nameChecks leaves at most n names of failing checks for each branch.
func (s Status) nameChecks(n int) {
	for i := range s.Branches {
		pr := &s.Branches[i].PullRequest
		names := pr.Failing[:min(n, len(pr.Failing))]
		pr.FailingMore += len(pr.Failing) - len(names)
		pr.Failing = nil
		for _, name := range names {
			pr.Failing = append(pr.Failing, cleantext.Cut(name, nameLength))
		}
	}
}

// shorten omits what other tools show.
func (s Status) shorten() {
	for i := range s.Notes {
		s.Notes[i] = cleantext.Cut(s.Notes[i], 2*nameLength)
	}
	for i := range s.Branches {
		b := &s.Branches[i]
		b.Remote, b.PullRequest.AutoMerge = "", ""
		if b.Jira != nil {
			b.Jira.Status = ""
		}
	}
}
