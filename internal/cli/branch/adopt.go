package branch

import (
	"context"
	"fmt"
	"slices"
	"strings"

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
	var parents, skip []string
	cmd := &cobra.Command{
		Use:   "adopt [BRANCH...]",
		Short: "Propose parents, issues and pull requests for branches that have none",
		Long: `Propose, for all branches or for those that are named, what is not written down yet:
parents and pull requests that another stack tool records, parents from how the branches grew and from the pull requests that they have, Jira
issues from names and commits, pull requests from GitHub. Each comes with the reason
for it. At a terminal it asks before it writes them down, for all of them or for each
branch; elsewhere pass --yes, and choose with --parent and --skip.`,
		Example:           "  copse branch adopt\n  copse branch adopt --parent feature/tests=main --skip old --yes\n  copse branch adopt feature/login --yes\n  copse branch adopt --offline --json",
		ValidArgsFunction: c.completeBranches(maxCompletions),
		RunE: c.run(func(ctx context.Context, p place, args []string) error {
			only, err := p.existing(ctx, args)
			if err != nil {
				return err
			}
			said, err := p.parents(ctx, parents)
			if err != nil {
				return err
			}
			stop := c.asking(offline)
			answer, err := p.Propose(ctx, track.Question{Only: only, Offline: offline, Said: said, Recorded: p.Branches.Recorded(ctx)})
			stop()
			if err != nil {
				return err
			}
			answer.Proposals = slices.DeleteFunc(answer.Proposals, func(f adopt.Proposal) bool { return slices.Contains(skip, f.Branch) })
			if asJSON {
				return c.adoptJSON(ctx, p, answer, yes)
			}
			return c.adoptFor(ctx, p, answer, yes)
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "write it down without asking")
	f.BoolVar(&offline, "offline", false, "do not look for pull requests")
	f.StringArrayVar(&parents, "parent", nil, "stack a branch on another parent than the proposed one: `BRANCH=PARENT`; can be repeated")
	f.StringArrayVar(&skip, "skip", nil, "leave out a `branch`; can be repeated")
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
		var err error
		if a.Proposals, err = p.Apply(ctx, a.Proposals); err != nil {
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
		answer, err := input.Line(c.env, "Write this down? [y/N], or c to choose for each branch: ")
		if err != nil {
			return err
		}
		switch strings.ToLower(answer) {
		case "y", "yes":
			yes = true
		case "c", "choose":
			yes = true
			if a.Proposals, err = c.choose(ctx, p, a.Proposals); err != nil {
				return err
			}
		}
	}
	if !yes {
		c.env.Note("nothing was written down; --yes does it")
		return nil
	}
	written, err := p.Apply(ctx, a.Proposals)
	if err != nil {
		return err
	}
	c.wrote(written)
	return nil
}

// choose asks a person about each proposal: to take it, to leave it out, or to take another
// parent.
func (c *cli) choose(ctx context.Context, p place, found []adopt.Proposal) ([]adopt.Proposal, error) {
	var chosen []adopt.Proposal
	for _, one := range found {
		question := one.Branch + ": write this down? [Y/n] "
		if one.Parent != nil {
			question = fmt.Sprintf("%s on %s? [Y/n, or another parent] ", one.Branch, one.Parent.Value)
		}
		for {
			answer, err := input.Line(c.env, question)
			if err != nil {
				return nil, err
			}
			lower := strings.ToLower(answer)
			if lower == "n" || lower == "no" {
				break
			}
			if lower != "" && lower != "y" && lower != "yes" && one.Parent != nil {
				if err := p.Check(ctx, answer); err != nil {
					c.note(err.Error())
					continue
				}
				one.Parent = &adopt.Fact{Value: answer, Evidence: adopt.Said}
			}
			chosen = append(chosen, one)
			break
		}
	}
	return chosen, nil
}

// wrote tells a person what was written down.
func (c *cli) wrote(found []adopt.Proposal) {
	if len(found) == 0 {
		c.note("nothing was written down: all of it was there already")
		return
	}
	for _, one := range found {
		var what []string
		if one.Parent != nil {
			what = append(what, "on "+one.Parent.Value)
		}
		if one.Jira != nil {
			what = append(what, one.Jira.Value)
		}
		if one.PR != nil {
			what = append(what, "#"+one.PR.Value)
		}
		c.env.Note(cleantext.Line(fmt.Sprintf("wrote %s: %s", one.Branch, strings.Join(what, ", "))))
	}
}

// parents returns the parents that values like "feature/tests=feature/login" name, by
// branch. All of them exist, and none of the branches has another parent yet.
func (p place) parents(ctx context.Context, values []string) (map[string]string, error) {
	said := make(map[string]string)
	state, err := p.State(ctx)
	if err != nil {
		return nil, err
	}
	for _, value := range values {
		child, parent, ok := strings.Cut(value, "=")
		if !ok || child == "" || parent == "" {
			return nil, app.UsageError(fmt.Sprintf("invalid value %q for --parent: use BRANCH=PARENT", value))
		}
		names, err := p.existing(ctx, []string{child, parent})
		if err != nil {
			return nil, err
		}
		if now, declared := state.Parent(names[0]); declared && now != names[1] {
			return nil, &track.StackedError{Branch: names[0], Parent: now}
		}
		said[names[0]] = names[1]
	}
	return said, nil
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
