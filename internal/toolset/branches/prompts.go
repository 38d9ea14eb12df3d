package branches

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/cleantext"
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

// StackStatusPrompt shows the branches and asks for a summary.
func (t *Tools) StackStatusPrompt(ctx context.Context) string {
	var sections []string
	if current := t.Current(ctx); current != "" {
		sections = append(sections, "Current branch: "+cleantext.Line(current))
	}
	if trees := t.treeTexts(ctx); len(trees) > 0 {
		title := "Branch dependency tree:"
		if len(trees) > 1 {
			title = "Branch dependency trees:"
		}
		sections = append(sections, title+"\n```\n"+strings.Join(trees, "\n")+"```")
	}
	if details := t.details(ctx); details != "" {
		sections = append(sections, "Branch details:\n"+details)
	}
	if len(sections) == 0 {
		return noData
	}
	return strings.Join(append(sections, stackTask), "\n\n")
}

// treeTexts are the trees of all roots, within one budget.
func (t *Tools) treeTexts(ctx context.Context) []string {
	graph, err := t.graph(ctx)
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

// details has a line for each branch that is linked to something.
func (t *Tools) details(ctx context.Context) string {
	state, err := t.place.State(ctx)
	if err != nil {
		return ""
	}
	var lines []string
	for _, name := range state.Names() {
		if _, linked := state.Branches[name]; !linked {
			continue
		}
		m := state.Metadata(name)
		line := "- " + m.Branch
		if m.JiraIssue != "" {
			line += " | Jira: " + m.JiraIssue
		}
		if m.PRNumber != 0 {
			line += fmt.Sprintf(" | PR: #%d", m.PRNumber)
		}
		if m.ParentBranch != "" {
			line += " | parent: " + m.ParentBranch
		}
		lines = append(lines, cleantext.Line(line))
	}
	// The trees above take the other half of the budget.
	if n := page.Fit(lines, func(s string) int { return len(s) }, page.DefaultBudget/2); n < len(lines) {
		lines = append(lines[:n], fmt.Sprintf("… %d more; use list_branches", len(lines)-n))
	}
	return strings.Join(lines, "\n")
}

// BranchContextPrompt shows one branch, the current one if name is empty, and
// asks for a description.
func (t *Tools) BranchContextPrompt(ctx context.Context, name string) string {
	if name = cmp.Or(name, t.Current(ctx)); name == "" {
		return noBranch
	}
	lines := []string{"Branch: " + name}
	if state, err := t.place.State(ctx); err == nil {
		m := state.Metadata(name)
		lines = append(lines, "Parent branch: "+cmp.Or(m.ParentBranch, "none"))
		if m.JiraIssue != "" {
			lines = append(lines, "Linked Jira issue: "+m.JiraIssue)
		} else {
			lines = append(lines, "No linked Jira issue found.")
		}
		if m.PRNumber != 0 {
			lines = append(lines, fmt.Sprintf("Linked PR: #%d", m.PRNumber))
		} else {
			lines = append(lines, "No linked pull request found.")
		}
		if m.CreatedAt != "" {
			lines = append(lines, "Created: "+m.CreatedAt)
		}
	}
	for i, l := range lines {
		lines[i] = cleantext.Line(l)
	}
	return strings.Join(lines, "\n") + "\n\n" + contextTask
}

// completeBranch offers the branches of git and of the state that fit what was
// typed: those that begin with it, then those that contain it.
func (t *Tools) completeBranch(ctx context.Context, typed string, _ map[string]string) ([]string, error) {
	names, err := t.place.Branches(ctx)
	if err != nil {
		return nil, err
	}
	if state, err := t.place.State(ctx); err == nil {
		names = append(slices.Clone(names), state.Names()...)
		slices.Sort(names)
		names = slices.Compact(names)
	}
	var begin, contain []string
	typed = strings.ToLower(typed)
	for _, name := range names {
		switch lower := strings.ToLower(name); {
		case strings.HasPrefix(lower, typed):
			begin = append(begin, name)
		case strings.Contains(lower, typed):
			contain = append(contain, name)
		}
	}
	return append(begin, contain...), nil
}
