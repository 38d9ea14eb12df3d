package branch

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/branch"
	"github.com/copse-dev/copse/internal/branch/twig"
	"github.com/copse-dev/copse/internal/cleantext"
)

// maxCompletions keeps a shell's list readable.
const maxCompletions = 200

// completeBranches offers branches for the first n arguments.
func (c *cli) completeBranches(n int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= n {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return c.complete(cmd, prefix, func(*twig.State, string) bool { return true }), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlag offers branches for a flag.
func (c *cli) completeFlag(cmd *cobra.Command, flag string) {
	one := c.completeBranches(1)
	if err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return one(cmd, nil, prefix)
	}); err != nil {
		panic(err) // the flag does not exist: a bug that every run reveals
	}
}

// complete offers the branches that want accepts, with their links.
func (c *cli) complete(cmd *cobra.Command, prefix string, want func(*twig.State, string) bool) []cobra.Completion {
	p, err := c.find(cmd.Context())
	if err != nil {
		return nil // no completions
	}
	state, err := p.State(cmd.Context())
	if err != nil {
		state = &twig.State{}
	}
	local, _ := p.Session.View().Branches(cmd.Context())
	var found []cobra.Completion
	for _, name := range branch.Names(state, branch.NewRefs(local, "", "")) {
		if !strings.HasPrefix(name, prefix) || !want(state, name) || len(found) == maxCompletions {
			continue
		}
		m := state.Metadata(name)
		var about []string
		if m.ParentBranch != "" {
			about = append(about, "on "+m.ParentBranch)
		}
		if m.JiraIssue != "" {
			about = append(about, m.JiraIssue)
		}
		if m.PRNumber != 0 {
			about = append(about, fmt.Sprintf("#%d", m.PRNumber))
		}
		found = append(found, cobra.CompletionWithDesc(name, cleantext.Line(strings.Join(about, ", "))))
	}
	return found
}
