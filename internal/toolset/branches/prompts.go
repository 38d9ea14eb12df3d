package branches

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/foreign"
	"github.com/copse-dev/copse/internal/page"
	"github.com/copse-dev/copse/internal/toolset"
)

const (
	noData      = "No repository or branch data available."
	noBranch    = "I'm not currently on a git branch. What should I work on?"
	stackTask   = "Summarize the current state of this PR stack. For each branch, describe its review status and CI results."
	contextTask = "Describe what I'm working on based on this branch context, including the linked Jira issue and pull request status."
)

func (t *Tools) prompts() []toolset.Prompt {
	return []toolset.Prompt{
		{
			Name:        "branch-context",
			Title:       "Branch context",
			Description: "What am I working on? Describe the current branch's Jira issue and PR.",
			Arguments: []toolset.Argument{{
				Name:        "branch",
				Description: "Branch name. If omitted, uses the current git branch.",
				Complete:    t.completeBranch,
			}},
			Get: func(ctx context.Context, args map[string]string) (string, error) {
				return t.BranchContextPrompt(ctx, args["branch"]), nil
			},
		},
		{
			Name:        "stack-status",
			Title:       "Stack status",
			Description: "Summarize the current state of my PR stack, including review status and CI results.",
			Get: func(ctx context.Context, _ map[string]string) (string, error) {
				return t.StackStatusPrompt(ctx), nil
			},
		},
	}
}

// StackStatusPrompt shows the branches and requests a summary.
func (t *Tools) StackStatusPrompt(ctx context.Context) string {
	var lines []foreign.Line
	if current := t.branches.Checked(ctx); current != "" {
		lines = append(lines, foreign.Own("Current branch: ").Name(current), foreign.Line{})
	}
	if trees := t.treeTexts(ctx); len(trees) > 0 {
		title := foreign.Own("Branch dependency tree:")
		if len(trees) > 1 {
			title = foreign.Own("Branch dependency trees:")
		}
		lines = append(append(lines, title), foreign.Quote(strings.Join(trees, "\n"))...)
		lines = append(lines, foreign.Line{})
	}
	if details := t.details(ctx); len(details) > 0 {
		lines = append(append(lines, foreign.Own("Branch details:")), details...)
		lines = append(lines, foreign.Line{})
	}
	if len(lines) == 0 {
		return noData
	}
	return foreign.Markdown(lines) + stackTask
}

// treeTexts returns the trees of all roots, within one budget.
func (t *Tools) treeTexts(ctx context.Context) []string {
	graph, err := t.branches.Graph(ctx)
	if err != nil {
		return nil
	}
	var texts []string
	left := page.DefaultBudget
	for _, root := range graph.Roots() {
		tree, err := graph.Tree(root, branch.Limit{Bytes: left})
		if err != nil {
			continue
		}
		text := tree.Root.Text()
		texts = append(texts, text)
		if left -= 2 * len(text); left <= 0 {
			break
		}
	}
	return texts
}

// details returns a line for each linked branch.
func (t *Tools) details(ctx context.Context) []foreign.Line {
	state, err := t.branches.State(ctx)
	if err != nil {
		return nil
	}
	var lines []foreign.Line
	for _, name := range state.Names() {
		if _, linked := state.Branches[name]; !linked {
			continue
		}
		m := state.Metadata(name)
		line := foreign.Own("- ").Name(m.Branch)
		if m.JiraIssue != "" {
			line = line.Own(" | Jira: ").Name(m.JiraIssue)
		}
		if m.PRNumber != 0 {
			line = line.Own(" | PR: #").Int(int(m.PRNumber))
		}
		if m.ParentBranch != "" {
			line = line.Own(" | parent: ").Name(m.ParentBranch)
		}
		lines = append(lines, line)
	}
	// The trees above take the other half of the budget.
	if n := page.Fit(lines, func(l foreign.Line) int { return len(l.Markdown()) }, page.DefaultBudget/2); n < len(lines) {
		lines = append(lines[:n], foreign.Own("… ").Int(len(lines)-n).Own(" more; use list_branches"))
	}
	return lines
}

// BranchContextPrompt shows one branch, the current one if name is empty, and requests a
// description.
func (t *Tools) BranchContextPrompt(ctx context.Context, name string) string {
	current := t.branches.Checked(ctx)
	if name = cmp.Or(name, current); name == "" {
		return noBranch
	}
	lines := []foreign.Line{foreign.Own("Branch: ").Name(name)}
	if names, err := t.branches.Names(ctx); err == nil && name != current && !slices.Contains(names, name) {
		lines = append(lines, foreign.Own("There is no branch with this name, in git or among the tracked ones."))
	} else if state, err := t.branches.Stacked(ctx); err == nil {
		m := state.Metadata(name)
		if m.ParentBranch != "" {
			lines = append(lines, foreign.Own("Parent branch: ").Name(m.ParentBranch))
		} else {
			lines = append(lines, foreign.Own("Parent branch: none"))
		}
		if m.JiraIssue != "" {
			lines = append(lines, foreign.Own("Linked Jira issue: ").Name(m.JiraIssue))
		} else {
			lines = append(lines, foreign.Own("No linked Jira issue found."))
		}
		if m.PRNumber != 0 {
			lines = append(lines, foreign.Own("Linked PR: #").Int(int(m.PRNumber)))
		} else {
			lines = append(lines, foreign.Own("No linked pull request found."))
		}
		if m.CreatedAt != "" {
			lines = append(lines, foreign.Own("Created: ").Name(m.CreatedAt))
		}
	}
	return foreign.Markdown(lines) + "\n" + contextTask
}

// completeBranch offers the branches of git and of the state that match the typed text: those that
// begin with it, then those that contain it.
func (t *Tools) completeBranch(ctx context.Context, prefix string, _ map[string]string) ([]string, error) {
	names, err := t.branches.Names(ctx)
	if err != nil {
		return nil, err
	}
	var begin, contain []string
	prefix = strings.ToLower(prefix)
	for _, name := range names {
		switch lower := strings.ToLower(name); {
		case strings.HasPrefix(lower, prefix):
			begin = append(begin, name)
		case strings.Contains(lower, prefix):
			contain = append(contain, name)
		}
	}
	return append(begin, contain...), nil
}
