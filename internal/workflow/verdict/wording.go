package verdict

import (
	"github.com/copse-dev/copse/internal/foreign"
)

// Lines formats a status as Markdown: the verdict, the next step, and a line for each branch.
func (s Status) Lines() []foreign.Line {
	lines := []foreign.Line{foreign.Own("Stack verdict: ").Known(string(s.Verdict), "blocked", "waiting", "ready", "unknown").Own(". ").Add(s.line)}
	if s.First != "" {
		lines = append(lines, foreign.Own("Before the next step: ").Name(s.First))
	}
	if s.Next != "" {
		lines = append(lines, foreign.Own("Next step, for a person to run: ").Name(s.Next))
	}
	switch {
	case s.GitHub.Reason != "":
		line := foreign.Own("GitHub: ").Name(s.GitHub.Reason)
		if s.GitHub.Hint != "" {
			line = line.Own(". ").Name(s.GitHub.Hint)
		}
		lines = append(lines, line)
	case s.GitHub.Age != "":
		lines = append(lines, foreign.Own("GitHub answered ").Word(s.GitHub.Age).Own("."))
	}
	for _, b := range s.Branches {
		lines = append(lines, b.line())
	}
	for _, c := range s.Conflicts {
		line := foreign.Own("Conflict: ").Add(c.line(0)).Own(" and ").Add(c.line(1))
		for i, file := range c.Files {
			if i == 0 {
				line = line.Own(" in ")
			} else {
				line = line.Own(", ")
			}
			line = line.Name(file)
		}
		if c.MoreFiles > 0 {
			line = line.Own(", more files: ").Int(c.MoreFiles)
		}
		lines = append(lines, line)
	}
	if s.MoreConflicts > 0 {
		lines = append(lines, foreign.Own("Conflicts that are not listed: ").Int(s.MoreConflicts).Own("; get_conflicts lists all"))
	}
	if s.ConflictsUnknown != "" {
		lines = append(lines, foreign.Own("There can be further conflicts: ").Prose(s.ConflictsUnknown).Own("; get_conflicts looks for them"))
	}
	if s.Showing != "" {
		lines = append(lines, foreign.Own("Showing ").Word(s.Showing))
	}
	return lines
}

// line formats one of the branches.
func (c Conflict) line(i int) foreign.Line {
	line := foreign.Own("").Name(c.Branches[i])
	if n := c.Above[c.Branches[i]]; n > 0 {
		line = line.Own(" (and ").Int(n).Own(" above it)")
	}
	return line
}

// line formats a branch.
func (b Branch) line() foreign.Line {
	line := foreign.Own("- ").Name(b.Branch)
	if b.Parent != "" {
		line = line.Own(" on ").Name(b.Parent).Own(" (").Name(b.Source)
		if b.Stale != "" {
			line = line.Own(", recorded on ").Name(b.Stale).Own(", which git does not have")
		}
		line = line.Own(")")
	}
	switch {
	case b.PullRequest.known():
		line = line.Own(" | ").Add(b.PullRequest.line())
	case b.PullRequest.State == PullNone:
		line = line.Own(" | no pull request")
	case b.PullRequest.State == PullAbsent:
	default:
		line = line.Own(" | pull request unknown")
	}
	switch {
	case b.Missing:
		line = line.Own(" | not in git")
	case b.Merged != "":
		line = line.Own(" | merged: ").Name(b.Merged)
	case b.NeedsRestack != nil && *b.NeedsRestack:
		line = line.Own(" | needs a restack")
	}
	if b.Ahead != nil {
		line = line.Own(" | ").Int(*b.Ahead).Own(" ahead, ").Int(*b.Behind).Own(" behind")
	}
	if b.Unpushed != nil && *b.Unpushed > 0 {
		line = line.Own(" | ").Int(*b.Unpushed).Own(" not pushed")
	}
	if b.Worktree != nil {
		line = line.Own(" | worktree ").Name(b.Worktree.Name)
		if b.Worktree.Dirty != nil && *b.Worktree.Dirty > 0 {
			line = line.Own(", changed files: ").Int(*b.Worktree.Dirty)
		}
	}
	for _, it := range b.Items {
		line = line.Own(" | item ").Name(it.ID.String()).Own(" ").Name(it.Status)
	}
	if b.Jira != nil {
		line = line.Own(" | ").Name(b.Jira.Key)
		if b.Jira.Status != "" {
			line = line.Own(" ").Name(b.Jira.Status)
		}
	}
	return line
}

// line formats a pull request.
func (p PullRequest) line() foreign.Line {
	line := foreign.Own("#").Int(p.Number).Own(" ").Name(p.State)
	if p.Draft {
		line = line.Own(", draft")
	}
	if p.ReviewDecision != "" {
		line = line.Own(", review: ").Name(p.ReviewDecision)
	}
	if p.UnresolvedThreads != nil && *p.UnresolvedThreads > 0 {
		line = line.Own(", unresolved threads: ").Int(*p.UnresolvedThreads)
	}
	if p.Checks != "" {
		line = line.Own(", checks: ").Name(p.Checks)
	}
	for i, name := range p.Failing {
		if i == 0 {
			line = line.Own(" (")
		} else {
			line = line.Own(", ")
		}
		line = line.Name(name)
	}
	if len(p.Failing) > 0 {
		line = line.Own(")")
	}
	return line
}
