package branch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/copse-dev/copse/internal/app"
	"github.com/copse-dev/copse/internal/branch/adopt"
	"github.com/copse-dev/copse/internal/branch/twig/edit"
	"github.com/copse-dev/copse/internal/cleantext"
	"github.com/copse-dev/copse/internal/cli/input"
	"github.com/copse-dev/copse/internal/cli/output"
	"github.com/copse-dev/copse/internal/cli/progress"
	"github.com/copse-dev/copse/internal/failure"
	"github.com/copse-dev/copse/internal/git/history"
	"github.com/copse-dev/copse/internal/github"
	"github.com/copse-dev/copse/internal/session"
	"github.com/copse-dev/copse/internal/wiring"
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
			name, changed, err := c.begin(ctx, p, root)
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
	p, err := open(ctx, sources)
	if err == nil {
		root, changed, err = c.begin(ctx, p, "")
	}
	return root, changed, explain(err)
}

// begin makes a state with a default root, unless there is one.
func (c *cli) begin(ctx context.Context, p place, root string) (name string, changed bool, err error) {
	state, err := p.state(ctx)
	if err != nil {
		return "", false, err
	}
	if root == "" {
		for _, r := range state.Roots {
			if r.IsDefault {
				return r.Branch, false, nil
			}
		}
		if root, err = p.standard(ctx); err != nil {
			return "", false, err
		}
	} else if err := p.check(ctx, root); err != nil {
		return "", false, err
	}
	changed, err = c.change(ctx, p, func(d *edit.Draft) error { return d.AddRoot(root, true) })
	return root, changed, err
}

// standard is the branch that others start from, else the one that is checked out.
func (p place) standard(ctx context.Context) (string, error) {
	found, err := p.Session.View().Default(ctx)
	if err != nil {
		return "", err
	}
	if found != "" {
		return found, nil
	}
	return p.current(ctx)
}

// proposals makes proposals for some branches, or for all; and says what could not be
// asked.
func (c *cli) proposals(ctx context.Context, p place, only []string, said map[string]string, offline bool) (found []adopt.Proposal, note string, err error) {
	state, err := p.state(ctx)
	if err != nil {
		return nil, "", err
	}
	known := adopt.Known{
		State: state, Only: only, Said: said,
		Began: func(branch string) (history.Beginning, bool) { return history.Began(p.repo.CommonDir(), branch) },
		Held:  func(branch string) map[string]bool { return history.Held(p.repo.CommonDir(), branch) },
	}
	for _, r := range state.Roots {
		known.Roots = append(known.Roots, r.Branch)
		if r.IsDefault {
			known.Root = r.Branch
		}
	}
	if known.Root == "" {
		if known.Root, err = p.standard(ctx); err != nil {
			return nil, "", err
		}
		known.Roots = append(known.Roots, known.Root)
	}
	if known.History, err = history.Unmerged(ctx, p.repo.Program(), known.Roots); err != nil {
		return nil, "", session.Explain(err)
	}
	if !offline {
		stop := progress.Show(c.env, "asking GitHub for pull requests")
		pulls, err := p.Pulls.Newest(ctx)
		stop()
		if err != nil {
			note = "pull requests were not looked for: " + failure.Of(err).Message(p.Words)
		}
		known.PullRequests = bestLast(pulls)
	}
	return adopt.Propose(known), note, nil
}

// bestLast orders pull requests so that an open one, then the newest one, counts.
func bestLast(pulls []github.PullRequest) []adopt.PullRequest {
	slices.SortStableFunc(pulls, func(a, b github.PullRequest) int {
		if a.State != b.State {
			return cmp.Compare(rank(a), rank(b))
		}
		return cmp.Compare(a.Number, b.Number)
	})
	var all []adopt.PullRequest
	for _, pr := range pulls {
		all = append(all, adopt.PullRequest{
			Number: uint32(pr.Number), Head: pr.Head, Base: pr.Base, HeadCommit: pr.HeadSHA, Open: rank(pr) == 1,
		})
	}
	return all
}

func rank(pr github.PullRequest) int {
	if pr.State == string(github.Open) {
		return 1
	}
	return 0
}

// apply writes proposals down; what was declared meanwhile stays.
func (c *cli) apply(ctx context.Context, p place, found []adopt.Proposal) error {
	_, err := c.change(ctx, p, func(d *edit.Draft) error {
		for _, f := range found {
			if f.Parent != nil && len(d.Parents(f.Branch)) == 0 {
				if err := d.Depend(f.Branch, f.Parent.Value); err != nil {
					return err
				}
			}
			linked := d.Before().Branches[f.Branch]
			var add edit.Links
			if f.Jira != nil && linked.JiraIssue == "" {
				add.Jira = f.Jira.Value
			}
			if f.PR != nil && linked.GitHubPR == 0 {
				n, err := strconv.ParseUint(f.PR.Value, 10, 32)
				if err != nil {
					return fmt.Errorf("pull request of %q: %w", f.Branch, err)
				}
				add.PR = uint32(n)
			}
			if add != (edit.Links{}) {
				if err := d.Link(f.Branch, add); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return err
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
			var only []string
			for _, arg := range args {
				name, err := p.named(ctx, []string{arg})
				if err == nil {
					err = p.check(ctx, name)
				}
				if err != nil {
					return err
				}
				only = append(only, name)
			}
			found, note, err := c.proposals(ctx, p, only, nil, offline)
			if err != nil {
				return err
			}
			if note != "" && !asJSON {
				fmt.Fprintln(c.env.Stderr, "note: "+cleantext.Line(note))
			}
			if !asJSON {
				if len(found) == 0 {
					return c.out().Line("nothing to propose: each branch has what can be found")
				}
				if err := c.show(found); err != nil {
					return err
				}
			}
			if !yes && !asJSON && c.env.Interactive() {
				if yes, err = input.Yes(c.env, "Write this down?"); err != nil {
					return err
				}
			}
			if yes && len(found) > 0 {
				if err := c.apply(ctx, p, found); err != nil {
					return err
				}
			}
			if asJSON {
				return c.out().JSON(adopted{append([]adopt.Proposal{}, found...), yes, note})
			}
			if !yes {
				fmt.Fprintln(c.env.Stderr, "nothing was written down; --yes does it")
			}
			return nil
		}),
	}
	f := cmd.Flags()
	f.BoolVarP(&yes, "yes", "y", false, "write it down without asking")
	f.BoolVar(&offline, "offline", false, "do not look for pull requests")
	output.JSONFlag[adopted](cmd, &asJSON)
	return cmd
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
				err = p.check(ctx, name)
			}
			if err == nil && parent != "" {
				if parent, err = p.named(ctx, []string{parent}); err == nil {
					err = p.check(ctx, parent)
				}
			}
			if err != nil {
				return err
			}
			said := map[string]string{}
			if parent != "" {
				state, err := p.state(ctx)
				if err != nil {
					return err
				}
				now, declared := state.Parent(name)
				if declared && now != parent {
					return fmt.Errorf("%s is stacked on %s already; `copse branch depend` adds a parent, `copse branch undepend` takes one away", name, now)
				}
				if !declared {
					said[name] = parent
				}
			}
			found, note, err := c.proposals(ctx, p, []string{name}, said, false)
			if err != nil {
				return err
			}
			if note != "" {
				fmt.Fprintln(c.env.Stderr, "note: "+cleantext.Line(note))
			}
			if len(found) == 0 && len(said) > 0 { // a root, or not in git any more
				found = []adopt.Proposal{{Branch: name, Parent: &adopt.Fact{Value: parent, Evidence: adopt.Said}}}
			}
			if len(found) == 0 {
				return c.out().Line("%s is written down already, with all that can be found", name)
			}
			if err := c.apply(ctx, p, found); err != nil {
				return err
			}
			return c.show(found)
		}),
	}
	cmd.Flags().StringVar(&parent, "parent", "", "the `branch` that it is stacked on")
	c.completeFlag(cmd, "parent")
	return cmd
}
