package section

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/jira"
)

// Links is what the stack section knows of branches and what they are linked to.
type Links struct {
	// Stack is the stack of the branch checked out, that branch first, with a note of
	// what was cut from it. The error can be a *briefing.Nothing.
	Stack func(context.Context) ([]branch.Entry, string, error)
	// PullRequest and Issue ask the services; nil if they are not to be asked.
	PullRequest func(context.Context, uint32) fact.Fact[github.Status]
	Issue       func(context.Context, string) fact.Fact[jira.Issue]
	// Fresh says that they may ask the network.
	Fresh bool
	Now   func() time.Time
}

// Stack tells of the branch stack, and of the issues and pull requests in it.
func Stack(l Links) briefing.Source {
	s := source("stack", "Branch stack", l.look)
	if l.Fresh {
		s.Limit = FreshLimit
	}
	return s
}

func (l Links) look(ctx context.Context) (briefing.Body, error) {
	stack, note, err := l.Stack(ctx)
	if err != nil {
		return briefing.Body{}, err
	}
	found := make([][]string, len(stack))
	var asking sync.WaitGroup
	for i, e := range stack {
		asking.Go(func() { found[i] = l.linked(ctx, e) })
	}
	asking.Wait()
	var body briefing.Body
	for i, e := range stack {
		line := cleantext.Line(e.Branch)
		if i == 0 {
			line += "  <- here"
		}
		if e.Missing {
			line += "  (not in git any more)"
		}
		body.Lines = append(append(body.Lines, line), found[i]...)
	}
	if note != "" {
		showing, _, _ := strings.Cut(note, ";")
		body.Lines = append(body.Lines, "… showing "+showing)
	}
	return body, nil
}

// linked are the lines about what a branch is linked to.
func (l Links) linked(ctx context.Context, e branch.Entry) []string {
	var lines []string
	if e.JiraIssue != "" {
		text := "  " + cleantext.Line(e.JiraIssue)
		if l.Issue != nil {
			text += ": " + IssueText(l.Issue(ctx, e.JiraIssue), l.Now())
		}
		lines = append(lines, text)
	}
	if e.PRNumber != 0 {
		text := fmt.Sprintf("  #%d", e.PRNumber)
		if l.PullRequest == nil {
			return append(lines, text)
		}
		pr := l.PullRequest(ctx, e.PRNumber)
		lines = append(lines, text+": "+PullRequestText(pr, l.Now()))
		if s, ok := pr.Get(); ok {
			for _, blocker := range s.Summary.Blockers {
				lines = append(lines, "    "+cleantext.Line(blocker))
			}
		}
	}
	return lines
}

// IssueText words what is known of an issue, with its source and age.
func IssueText(f fact.Fact[jira.Issue], now time.Time) string { return state(f, issue, now) }

// PullRequestText words what is known of a pull request, with its source and age.
func PullRequestText(f fact.Fact[github.Status], now time.Time) string {
	return state(f, pullRequest, now)
}

// state words a fact of a service, with its source and age.
func state[T any](f fact.Fact[T], word func(T) string, now time.Time) string {
	value, known := f.Get()
	switch {
	case known:
		return fmt.Sprintf("%s (%s, %s)", word(value), f.Source, fact.Age(f.AsOf, now))
	case f.State == fact.StateNone:
		return "none (" + f.Source + ")"
	case f.Why() == fact.NotFetched:
		return "not fetched yet; fresh=true asks for it"
	case f.Hint != "":
		return "not known: " + cleantext.Line(f.Why()) + ". " + cleantext.Line(f.Hint)
	}
	return "not known: " + cleantext.Line(f.Why())
}

func issue(i jira.Issue) string {
	text := fmt.Sprintf("%s, %s", cleantext.Line(i.Summary), cleantext.Line(i.Status))
	if i.Assignee != "" {
		text += ", assigned to " + cleantext.Line(i.Assignee)
	}
	return text
}

func pullRequest(s github.Status) string {
	pr := s.PullRequest
	how := pr.State
	switch {
	case pr.Merged:
		how = "merged"
	case pr.Draft:
		how += " draft"
	}
	reviews := strings.ReplaceAll(s.Summary.ReviewDecision, "_", " ")
	if reviews == "none" {
		reviews = "no reviews"
	}
	return fmt.Sprintf("%s, %s into %s, checks %s, %s", cleantext.Line(pr.Title), how, cleantext.Line(pr.Base), s.Summary.Checks, reviews)
}
