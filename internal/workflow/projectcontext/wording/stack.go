package wording

import (
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/github/pullrequest"
	"github.com/copse-dev/copse/internal/jira"
	"github.com/copse-dev/copse/internal/workflow/projectcontext"
)

// stackLines returns the branches with what they are linked to. What keeps a service from
// answering is said once, after the branches, where it concerns several of them.
func stackLines(s projectcontext.Stack, now time.Time, scale int) []foreign.Line {
	shared := reasons(s)
	var lines []foreign.Line
	if s.Note != "" {
		lines = append(lines, note(s.Note))
	}
	for i, b := range s.Branches {
		line := branchLine(b)
		if i == 0 {
			line = foreign.Name(b.Branch).Own("  <- here")
			if b.Missing {
				line = line.Own(missing)
			}
		}
		lines = append(append(lines, line), linked(b, now, scale, shared)...)
	}
	if shown := len(s.Branches); shown < s.Total {
		lines = append(lines, foreign.Own("… showing ").Int(shown).Own(" of ").Int(s.Total))
	}
	for _, r := range shared {
		lines = append(lines, r.line())
	}
	return lines
}

// note returns a line with a note about the repository.
func note(text string) foreign.Line { return foreign.Own("Note: ").Prose(text) }

const missing = "  (no longer in git)"

func branchLine(b projectcontext.LinkedBranch) foreign.Line {
	if b.Missing {
		return foreign.Name(b.Branch).Own(missing)
	}
	return foreign.Name(b.Branch)
}

// reason is why a service does not report the links of branches.
type reason struct {
	jira bool
	why  foreign.Line
	// unfetched means that no request was sent to the service yet.
	unfetched bool
}

func (r reason) line() foreign.Line {
	switch {
	case r.unfetched:
		return foreign.Own("fresh=true fetches what is not fetched yet")
	case r.jira:
		return foreign.Own("Jira: ").Add(r.why)
	}
	return foreign.Own("GitHub: ").Add(r.why)
}

func (r reason) same(other reason) bool {
	return r.unfetched && other.unfetched || r.jira == other.jira && r.unfetched == other.unfetched && r.why.Plain() == other.why.Plain()
}

// reasonOf returns why a fact is not known, false for one that is.
func reasonOf[T any](f *fact.Fact[T], jira bool) (reason, bool) {
	if f == nil || f.State == fact.StateKnown || f.State == fact.StateNone {
		return reason{}, false
	}
	return reason{jira: jira, why: unknown(*f), unfetched: f.Why() == fact.NotFetched}, true
}

// Unknown returns two or three words for the place of an unknown fact, and a line with the service
// and the reason, which is often the same for several facts.
func Unknown[T any](f fact.Fact[T], jira bool) (brief, why foreign.Line, ok bool) {
	r, ok := reasonOf(&f, jira)
	return r.brief(), r.line(), ok
}

// reasons returns the reasons that concern several branches, each once.
func reasons(s projectcontext.Stack) []reason {
	var met, shared []reason
	add := func(r reason, ok bool) {
		switch {
		case !ok:
		case !slices.ContainsFunc(met, r.same):
			met = append(met, r)
		case !slices.ContainsFunc(shared, r.same):
			shared = append(shared, r)
		}
	}
	for _, b := range s.Branches {
		add(reasonOf(b.Issue, true))
		add(reasonOf(b.PullRequest, false))
	}
	return shared
}

// brief returns the reason of a fact in two words if its full text is shared.
func brief(r reason, ok bool, shared []reason) (foreign.Line, bool) {
	if !ok || !slices.ContainsFunc(shared, r.same) {
		return foreign.Line{}, false
	}
	return r.brief(), true
}

func (r reason) brief() foreign.Line {
	if r.unfetched {
		return foreign.Own("not fetched yet")
	}
	return foreign.Own("not known")
}

// linked returns the lines about what a branch is linked to.
func linked(b projectcontext.LinkedBranch, now time.Time, scale int, shared []reason) []foreign.Line {
	var lines []foreign.Line
	if b.JiraIssue != "" {
		line := foreign.Own("  ").Name(b.JiraIssue)
		r, ok := reasonOf(b.Issue, true)
		if short, ok := brief(r, ok, shared); ok {
			line = line.Own(": ").Add(short)
		} else if b.Issue != nil {
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
	r, ok := reasonOf(b.PullRequest, false)
	if short, ok := brief(r, ok, shared); ok {
		return append(lines, line.Own(": ").Add(short))
	}
	lines = append(lines, line.Own(": ").Add(PullRequest(*b.PullRequest, now)))
	status, ok := b.PullRequest.Get()
	if !ok {
		return lines
	}
	for _, blocker := range status.Summary.Blockers {
		lines = append(lines, foreign.Own("  blocked: ").Prose(blocker))
	}
	if scale == 1 {
		return lines
	}
	for i, c := range failing(status) {
		if i == detailed*scale {
			break
		}
		line := foreign.Own("  check ").Add(checkLine(c))
		if c.URL != "" {
			line = line.Own(" ").Name(c.URL)
		}
		lines = append(lines, line)
	}
	for i, t := range status.UnresolvedThreads {
		if i == detailed*scale {
			break
		}
		lines = append(lines, foreign.Own("  unresolved: ").Add(threadLine(t)))
	}
	return lines
}

// detailed is how many failing checks and unresolved threads of a pull request a text of
// twice the usual length has at most, divided by two.
const detailed = 5

// failing returns the checks of a pull request that failed.
func failing(s pullrequest.Status) []pullrequest.Check {
	var all []pullrequest.Check
	for _, c := range s.Checks {
		if slices.Contains(s.Summary.Failing, c.Name) {
			all = append(all, c)
		}
	}
	return all
}

func checkLine(c pullrequest.Check) foreign.Line {
	verdict := c.Status
	if c.Conclusion != nil {
		verdict = *c.Conclusion
	}
	return foreign.Name(c.Name).Own(": ").Name(verdict)
}

// maxThread is how many characters of a comment are shown.
const maxThread = 100

func threadLine(t pullrequest.Thread) foreign.Line {
	line := foreign.Name(t.Author).Own(" at ").Name(t.File)
	if t.Line > 0 {
		line = line.Own(" line ").Int(t.Line)
	}
	return line.Own(": ").Prose(cleantext.Cut(cleantext.Line(t.Text), maxThread))
}

// Issue returns the known facts about an issue, with their source and age.
func Issue(f fact.Fact[jira.Issue], now time.Time) foreign.Line { return known(f, issue, now) }

// PullRequest returns the known facts about a pull request, with their source and age.
func PullRequest(f fact.Fact[pullrequest.Status], now time.Time) foreign.Line {
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
	return unknown(f)
}

// unknown returns why a fact is not known.
func unknown[T any](f fact.Fact[T]) foreign.Line {
	line := foreign.Own("not known: ").Prose(f.Why())
	if f.Hint != "" {
		line = line.Own(". ").Prose(f.Hint)
	}
	return line
}

func issue(i jira.Issue) foreign.Line {
	line := foreign.Prose(i.Summary).Own(", ").Name(i.Status)
	if i.Assignee != "" {
		line = line.Own(", assigned to ").Name(i.Assignee)
	}
	return line
}

func pullRequest(s pullrequest.Status) foreign.Line {
	pr := s.PullRequest
	line := foreign.Prose(pr.Title).Own(" ").By(pr.Author, foreign.StandingOf(pr.AuthorAssociation)).Own(", ")
	switch {
	case pr.Merged:
		line = line.Own("merged")
	case pr.Draft:
		line = line.Known(pr.State, "open", "closed").Own(" draft")
	default:
		line = line.Known(pr.State, "open", "closed")
	}
	if pr.Fork != "" {
		line = line.Own(" from ").Name(pr.Fork)
	}
	line = line.Own(" into ").Name(pr.Base).Own(", checks ").Word(s.Summary.Checks).Own(", ")
	if reviews := s.Summary.ReviewDecision; reviews != "none" {
		return line.Known(strings.ReplaceAll(reviews, "_", " "), "approved", "changes requested", "review required")
	}
	return line.Own("no reviews")
}
