package section

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/briefing"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
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
	found := make([][]foreign.Line, len(stack))
	var asking sync.WaitGroup
	for i, e := range stack {
		asking.Go(func() { found[i] = l.linked(ctx, e) })
	}
	asking.Wait()
	var body briefing.Body
	for i, e := range stack {
		line := foreign.Name(e.Branch)
		if i == 0 {
			line = line.Own("  <- here")
		}
		if e.Missing {
			line = line.Own("  (not in git any more)")
		}
		body.Lines = append(append(body.Lines, line), found[i]...)
	}
	if note != "" {
		showing, _, _ := strings.Cut(note, ";")
		body.Lines = append(body.Lines, foreign.Own("… showing ").Word(showing))
	}
	return body, nil
}

// linked are the lines about what a branch is linked to.
func (l Links) linked(ctx context.Context, e branch.Entry) []foreign.Line {
	var lines []foreign.Line
	if e.JiraIssue != "" {
		line := foreign.Own("  ").Name(e.JiraIssue)
		if l.Issue != nil {
			line = line.Own(": ").Add(IssueText(l.Issue(ctx, e.JiraIssue), l.Now()))
		}
		lines = append(lines, line)
	}
	if e.PRNumber != 0 {
		line := foreign.Own("  #").Int(int(e.PRNumber))
		if l.PullRequest == nil {
			return append(lines, line)
		}
		pr := l.PullRequest(ctx, e.PRNumber)
		lines = append(lines, line.Own(": ").Add(PullRequestText(pr, l.Now())))
		if s, ok := pr.Get(); ok {
			for _, blocker := range s.Summary.Blockers {
				lines = append(lines, foreign.Own("  blocked: ").Name(blocker))
			}
		}
	}
	return lines
}

// IssueText words what is known of an issue, with its source and age.
func IssueText(f fact.Fact[jira.Issue], now time.Time) foreign.Line { return state(f, issue, now) }

// PullRequestText words what is known of a pull request, with its source and age.
func PullRequestText(f fact.Fact[github.Status], now time.Time) foreign.Line {
	return state(f, pullRequest, now)
}

// state words a fact of a service, with its source and age.
func state[T any](f fact.Fact[T], word func(T) foreign.Line, now time.Time) foreign.Line {
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
