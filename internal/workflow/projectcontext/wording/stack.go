package wording

import (
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

func stackLines(s projectcontext.Stack, now time.Time) []foreign.Line {
	var lines []foreign.Line
	for i, b := range s.Branches {
		line := foreign.Name(b.Branch)
		if i == 0 {
			line = line.Own("  <- here")
		}
		if b.Missing {
			line = line.Own("  (not in git any more)")
		}
		lines = append(append(lines, line), linked(b, now)...)
	}
	if shown := len(s.Branches); shown < s.Total {
		lines = append(lines, foreign.Own("… showing ").Int(shown).Own(" of ").Int(s.Total))
	}
	return lines
}

// linked returns the lines about what a branch is linked to.
func linked(b projectcontext.LinkedBranch, now time.Time) []foreign.Line {
	var lines []foreign.Line
	if b.JiraIssue != "" {
		line := foreign.Own("  ").Name(b.JiraIssue)
		if b.Issue != nil {
			line = line.Own(": ").Add(Issue(*b.Issue, now))
		}
		lines = append(lines, line)
	}
	if b.PRNumber == 0 {
		return lines
	}
	line := foreign.Own("  #").Int(int(b.PRNumber))
	if b.PullRequest == nil {
		return append(lines, line)
	}
	lines = append(lines, line.Own(": ").Add(PullRequest(*b.PullRequest, now)))
	if status, ok := b.PullRequest.Get(); ok {
		for _, blocker := range status.Summary.Blockers {
			lines = append(lines, foreign.Own("  blocked: ").Name(blocker))
		}
	}
	return lines
}

// Issue returns what is known of an issue, with its source and age.
func Issue(f fact.Fact[jira.Issue], now time.Time) foreign.Line { return known(f, issue, now) }

// PullRequest returns what is known of a pull request, with its source and age.
func PullRequest(f fact.Fact[github.Status], now time.Time) foreign.Line {
	return known(f, pullRequest, now)
}

// known returns a fact of a service in words, with its source and age.
func known[T any](f fact.Fact[T], word func(T) foreign.Line, now time.Time) foreign.Line {
	value, known := f.Get()
	switch {
	case known:
		return word(value).Own(" (").Word(f.Source).Own(", ").Word(fact.Age(f.AsOf, now)).Own(")")
	case f.State == fact.StateNone:
		return foreign.Own("none (").Word(f.Source).Own(")")
	case f.Why() == fact.NotFetched:
		return foreign.Own("not fetched yet; fresh=true asks for it")
	}
	line := foreign.Own("not known: ").Name(f.Why())
	if f.Hint != "" {
		line = line.Own(". ").Name(strings.ReplaceAll(f.Hint, "`", "'"))
	}
	return line
}

func issue(i jira.Issue) foreign.Line {
	line := foreign.Name(i.Summary).Own(", ").Name(i.Status)
	if i.Assignee != "" {
		line = line.Own(", assigned to ").Name(i.Assignee)
	}
	return line
}

func pullRequest(s github.Status) foreign.Line {
	pr := s.PullRequest
	line := foreign.Name(pr.Title).Own(" ").By(pr.Author, foreign.StandingOf(pr.AuthorAssociation)).Own(", ")
	switch {
	case pr.Merged:
		line = line.Own("merged")
	case pr.Draft:
		line = line.Known(pr.State, "open", "closed").Own(" draft")
	default:
		line = line.Known(pr.State, "open", "closed")
	}
	line = line.Own(" into ").Name(pr.Base).Own(", checks ").Word(s.Summary.Checks).Own(", ")
	if reviews := s.Summary.ReviewDecision; reviews != "none" {
		return line.Word(strings.ReplaceAll(reviews, "_", " "))
	}
	return line.Own("no reviews")
}
