package branch

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/adopt"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/wiring"
	"github.com/copse-dev/copse/internal/workflow/track"
)

func (c *cli) init() *cobra.Command {
	var root string
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Begin to keep the branches of a repository",
		Long: `Begin to keep the branches of a repository: make .twig/state.json with the default root,
which is found by itself. Nothing changes where that is done already.`,
		Example: "  copse branch init\n  copse branch init --root develop",
		Args:    app.NoArgs,
		RunE: c.run(func(ctx context.Context, p place, _ []string) error {
			name, changed, err := p.Begin(ctx, root)
			if err != nil {
				return err
			}
			if !changed {
				return c.out().Line("the branches are kept already; the default root is %s", name)
			}
			return c.out().Line("the branches are kept now; the default root is %s. Next: copse branch adopt", name)
		}),
	}
	cmd.Flags().StringVar(&root, "root", "", "the `branch` that stacks end at (default: the one that others start from)")
	c.completeFlag(cmd, "root")
	return cmd
}

// Init begins to keep the branches of the repository of sources, for "copse init". It
// returns the default root, and false if they are kept already.
func Init(ctx context.Context, env app.Env, sources *wiring.Sources) (root string, changed bool, err error) {
	c := &cli{env: env}
	p, err := c.open(ctx, sources)
	if err == nil {
		root, changed, err = p.Begin(ctx, "")
	}
	return root, changed, explain(err)
}

// show prints proposals with their evidence.
func (c *cli) show(found []adopt.Proposal) error {
	var cells [][]string
	for _, f := range found {
		for _, fact := range []struct {
			what string
			*adopt.Fact
		}{{"parent", f.Parent}, {"jira", f.Jira}, {"pr", f.PR}} {
			if fact.Fact != nil {
				cells = append(cells, []string{f.Branch, fact.what, fact.Value, fact.Evidence})
			}
		}
	}
	return c.out().Table([]output.Column{{Name: "branch", Flexible: true}, {Name: "what"}, {Name: "value", Flexible: true}, {Name: "because", Flexible: true}}, cells)
}

// adopted is the outcome in JSON.
type adopted struct {
	Proposals []adopt.Proposal `json:"proposals"`
	Applied   bool             `json:"applied"`
	Note      string           `json:"note,omitempty"`
}

func (c *cli) adopt() *cobra.Command {
	var yes, offline, asJSON bool
	cmd := &cobra.Command{
		Use:   "adopt [BRANCH...]",
		Short: "Propose parents, issues and pull requests for branches that have none",
		Long: `Propose, for all branches or for those that are named, what is not written down yet:
parents from how the branches grew and from the pull requests that they have, Jira
issues from names and commits, pull requests from GitHub. Each comes with the reason
for it. At a terminal it asks before it writes them down; elsewhere it wants --yes.`,
		Example:           "  copse branch adopt\n  copse branch adopt feature/login --yes\n  copse branch adopt --offline --json",
		ValidArgsFunction: c.completeBranches(maxCompletions),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			only, err := p.existing(ctx, args)
			if err != nil {
				return err
			}
			stop := c.asking(offline)
			answer, err := p.Propose(ctx, track.Question{Only: only, Offline: offline})
			stop()
			if err != nil {
				return err
			}
			if asJSON {
				return c.adoptJSON(ctx, p, answer, yes)
			}
			return c.adoptFor(ctx, p, answer, yes)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "write it down without asking")
	f.BoolVar(&offline, "offline", false, "do not look for pull requests")
	output.JSONFlag[adopted](cmd, &asJSON)
	return cmd
}

// existing returns the branches that args name, all of which exist.
func (p place) existing(ctx context.Context, args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		name, err := p.named(ctx, []string{arg})
		if err == nil {
			err = p.Check(ctx, name)
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// adoptJSON prints proposals as JSON, after writing them down if yes.
func (c *cli) adoptJSON(ctx context.Context, p place, a track.Answer, yes bool) error {
	if yes {
		if err := p.Apply(ctx, a.Proposals); err != nil {
			return err
		}
	}
	return c.out().JSON(adopted{append([]adopt.Proposal{}, a.Proposals...), yes, unasked(p, a)})
}

// adoptFor shows a person proposals, and writes them down if yes or if the person agrees.
func (c *cli) adoptFor(ctx context.Context, p place, a track.Answer, yes bool) (err error) {
	c.note(unasked(p, a))
	if len(a.Proposals) == 0 {
		return c.out().Line("nothing to propose: each branch has what can be found")
	}
	if err := c.show(a.Proposals); err != nil {
		return err
	}
	if !yes && c.env.Interactive() {
		if yes, err = input.Yes(c.env, "Write this down?"); err != nil {
			return err
		}
	}
	if !yes {
		c.env.Note("nothing was written down; --yes does it")
		return nil
	}
	return p.Apply(ctx, a.Proposals)
}

// asking shows a person that GitHub is asked, until stop is called.
func (c *cli) asking(offline bool) (stop func()) {
	if offline {
		return func() {}
	}
	return progress.Show(c.env, "asking GitHub for pull requests")
}

// unasked returns why pull requests were not looked for, "" if they were.
func unasked(p place, a track.Answer) string {
	if a.Unasked == nil {
		return ""
	}
	return "pull requests were not looked for: " + failure.Of(a.Unasked).Message(p.Words)
}

func (c *cli) note(text string) {
	if text != "" {
		c.env.Note("note: " + cleantext.Line(text))
	}
}

func (c *cli) track() *cobra.Command {
	var parent string
	cmd := &cobra.Command{
		Use:   "track [BRANCH]",
		Short: "Write a branch down, with the parent, issue and pull request that are found",
		Long: `Write a branch down, by default the one that is checked out: under the parent that you
name, else under the one that is found, and with the issue and the pull request that
are found. It is "adopt" for one branch, without a question.`,
		Example: "  copse branch track\n  copse branch track feature/tests --parent feature/login",
		Args:    app.Args(0, 1, "none or BRANCH"), ValidArgsFunction: c.completeBranches(1),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			name, err := p.named(ctx, args)
			if err == nil {
				err = p.Check(ctx, name)
			}
			if err == nil && parent != "" {
				if parent, err = p.named(ctx, []string{parent}); err == nil {
					err = p.Check(ctx, parent)
				}
			}
			if err != nil {
				return err
			}
			stop := c.asking(false)
			answer, err := p.Track(ctx, name, parent)
			stop()
			if err != nil {
				return err
			}
			c.note(unasked(p, answer))
			if len(answer.Proposals) == 0 {
				return c.out().Line("%s is written down already, with all that can be found", name)
			}
			return c.show(answer.Proposals)
		}),
	}
	cmd.Flags().StringVar(&parent, "parent", "", "the `branch` that it is stacked on")
	c.completeFlag(cmd, "parent")
	return cmd
}
