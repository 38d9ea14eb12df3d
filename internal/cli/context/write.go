package context

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/fact"
	"github.com/copse-dev/copse/internal/git"
)

// maxBranches is how many other branches are named.
const maxBranches = 10

// write prints v as Markdown, which reads well in a terminal too.
func (v view) write(w io.Writer, now time.Time) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", cleantext.Line(v.Root))
	fmt.Fprintf(&b, "%s\n", v.where())
	if v.Origin != "" {
		fmt.Fprintf(&b, "GitHub: %s\n", v.Origin)
	}
	v.writeStack(&b)
	v.writeIssue(&b, now)
	v.writePullRequest(&b, now)
	v.writeCommits(&b, now)
	v.writeWorktrees(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// where is one line: branch, upstream, changes.
func (v view) where() string {
	at := "On " + cleantext.Line(v.Branch)
	if v.Detached {
		at = "Detached at " + short(v.Commit)
	}
	st, known := v.Status.Get()
	if !known {
		if why := v.Status.Why(); why != "" {
			return at + ". Changes: " + cleantext.Line(why) + "."
		}
		return at + ". A bare repository."
	}
	return at + upstream(st) + ". " + changes(st) + "."
}

func upstream(st git.Status) string {
	switch {
	case st.Upstream == "":
		return ", no upstream"
	case st.UpstreamGone:
		return ", upstream " + st.Upstream + " is gone"
	case st.Ahead == 0 && st.Behind == 0:
		return ", level with " + st.Upstream
	case st.Behind == 0:
		return fmt.Sprintf(", %d ahead of %s", st.Ahead, st.Upstream)
	case st.Ahead == 0:
		return fmt.Sprintf(", %d behind %s", st.Behind, st.Upstream)
	}
	return fmt.Sprintf(", %d ahead of %s and %d behind", st.Ahead, st.Upstream, st.Behind)
}

func changes(st git.Status) string {
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{st.Conflicted, "in conflict"}, {st.Staged, "staged"}, {st.Modified, "modified"}, {st.Untracked, "untracked"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	if len(parts) == 0 {
		return "No changes"
	}
	return "Changes: " + strings.Join(parts, ", ")
}

func (v view) writeStack(b *strings.Builder) {
	stack, known := v.Stack.Get()
	switch {
	case known:
		b.WriteString("\n## Stack\n\n")
		for i, e := range stack {
			mark := ""
			if i == 0 {
				mark = "  <- here"
			}
			fmt.Fprintf(b, "%s%s\n", label(e), mark)
		}
		if v.StackNote != "" {
			showing, _, _ := strings.Cut(v.StackNote, ";")
			fmt.Fprintf(b, "… showing %s\n", showing)
		}
	case v.Stack.State == fact.StateNone:
		fmt.Fprintf(b, "\n## Branches\n\nNo stack: there is no %s here.\n", v.Stack.Source)
		v.writeBranches(b)
	case !v.Detached:
		fmt.Fprintf(b, "\n## Stack\n\nNot known: %s\n", v.Stack.Why())
	}
}

func label(e branch.Entry) string {
	var notes []string
	if e.JiraIssue != "" {
		notes = append(notes, e.JiraIssue)
	}
	if e.PRNumber != 0 {
		notes = append(notes, fmt.Sprintf("#%d", e.PRNumber))
	}
	if e.Missing {
		notes = append(notes, "missing")
	}
	text := e.Branch
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return cleantext.Line(text)
}

func (v view) writeBranches(b *strings.Builder) {
	others := slices.DeleteFunc(slices.Clone(v.Branches), func(name string) bool { return name == v.Branch })
	if len(others) == 0 {
		b.WriteString("No other branches.\n")
		return
	}
	shown := others[:min(len(others), maxBranches)]
	fmt.Fprintf(b, "Other branches: %s", cleantext.Line(strings.Join(shown, ", ")))
	if more := len(others) - len(shown); more > 0 {
		fmt.Fprintf(b, " and %d more", more)
	}
	b.WriteString("\n")
}

func (v view) writeIssue(b *strings.Builder, now time.Time) {
	issue, known := v.Jira.Get()
	if !known {
		v.writeUnknown(b, "Issue", v.Jira.State, v.Jira.Why(), v.Jira.Hint)
		return
	}
	fmt.Fprintf(b, "\n## Issue %s (%s, %s)\n\n%s\nStatus: %s", issue.Key, v.Jira.Source, fact.Age(v.Jira.AsOf, now), issue.Summary, issue.Status)
	if issue.Assignee != "" {
		fmt.Fprintf(b, ", assigned to %s", issue.Assignee)
	}
	b.WriteString("\n")
}

func (v view) writePullRequest(b *strings.Builder, now time.Time) {
	s, known := v.PullRequest.Get()
	if !known {
		v.writeUnknown(b, "Pull request", v.PullRequest.State, v.PullRequest.Why(), v.PullRequest.Hint)
		return
	}
	pr := s.PullRequest
	fmt.Fprintf(b, "\n## Pull request #%d (%s, %s)\n\n%s\nState: %s, into %s. Checks: %s. Reviews: %s.\n", pr.Number,
		v.PullRequest.Source, fact.Age(v.PullRequest.AsOf, now), pr.Title, pr.State, pr.Base, s.Summary.Checks,
		strings.ReplaceAll(s.Summary.ReviewDecision, "_", " "))
	for _, blocker := range s.Summary.Blockers {
		fmt.Fprintf(b, "- %s\n", blocker)
	}
}

// writeUnknown says why something that is linked is not shown. What is not
// linked is not mentioned.
func (v view) writeUnknown(b *strings.Builder, what string, state fact.State, why, hint string) {
	linked := false
	if stack, ok := v.Stack.Get(); ok {
		linked = what == "Issue" && stack[0].JiraIssue != "" || what == "Pull request" && stack[0].PRNumber != 0
	}
	if !linked || state == fact.StateNone {
		return
	}
	if why == fact.NotFetched {
		hint = "`copse context --fresh` asks for it."
	}
	fmt.Fprintf(b, "\n## %s\n\nNot known: %s. %s\n", what, why, hint)
}

func (v view) writeCommits(b *strings.Builder, now time.Time) {
	if len(v.Commits) == 0 {
		return
	}
	b.WriteString("\n## Last commits\n\n")
	for _, c := range v.Commits {
		fmt.Fprintf(b, "%s %s (%s)\n", c.Hash, cleantext.Line(c.Subject), fact.Age(c.When, now))
	}
}

func (v view) writeWorktrees(b *strings.Builder) {
	if len(v.Worktrees) == 0 {
		return
	}
	b.WriteString("\n## Worktrees\n\n")
	for _, w := range v.Worktrees {
		on := w.Branch
		if w.Detached {
			on = "detached at " + short(w.Head)
		}
		fmt.Fprintf(b, "%s (%s)\n", cleantext.Line(w.Path), cleantext.Line(on))
	}
}

func short(hash string) string { return hash[:min(len(hash), 8)] }
